"""Write a manual as a flat OpenDocument text for LibreOffice Writer.

The styles, running heads and page layouts are in manual-template.fodt.
"""

import base64
from pathlib import Path
from xml.sax.saxutils import escape

from markup import inline, spans

HERE = Path(__file__).resolve().parent
TEXT_WIDTH = 17.0  # cm between the margins
FIGURE_WIDTH = 13.0  # cm
SHORT_TABLE = 13  # rows; a shorter table is not broken across pages


class Fodt:
    def __init__(self, manual, printed_pages):
        self.manual, self.pages = manual, printed_pages
        self.out, self.table_styles = [], []
        self.notes = self.tables = self.figures = 0

    def document(self):
        self.title_page()
        for block in self.manual.blocks:
            getattr(self, block.kind)(block)
        meta = self.manual.meta
        text = (HERE / "manual-template.fodt").read_text(encoding="utf-8")
        for word, value in {
            "@TITLE@": escape(f"{meta['title']} {meta['models']}"),
            "@HEADER@": escape(meta["header"]),
            "@FOOTER@": escape(meta["footer"]),
            "@COLUMNS@": "".join(self.table_styles),
            "@BODY@": "".join(self.out),
        }.items():
            text = text.replace(word, value)
        return text

    # -- text -----------------------------------------------------------------

    def p(self, style, xml):
        self.out.append(f'<text:p text:style-name="{style}">{xml}</text:p>')

    def inline(self, text):
        return "".join(self.piece(kind, value) for kind, value in inline(text))

    def piece(self, kind, value):
        if kind == "text":
            return escape(value)
        if kind == "ref":
            return link(value, escape(self.manual.section_number(value)))
        if kind == "note":
            return self.footnote(value)
        return f'<text:span text:style-name="{kind.title()}">{escape(value)}</text:span>'

    def footnote(self, text):
        self.notes += 1
        return (
            f'<text:note text:id="ftn{self.notes}" text:note-class="footnote">'
            f"<text:note-citation>{self.notes}</text:note-citation><text:note-body>"
            f'<text:p text:style-name="Footnote">{self.inline(text)}</text:p>'
            "</text:note-body></text:note>"
        )

    # -- blocks ---------------------------------------------------------------

    def title_page(self):
        meta = self.manual.meta
        self.p("Title_20_rule", "")
        self.p("Title", escape(meta["title"]))
        self.p("Subtitle", escape(meta["subtitle"]))
        self.p("Subtitle", escape(meta["models"]))
        self.p("Title_20_rule", "")
        for line in meta["data"].split(" | "):
            key, value = line.split(": ", 1)
            self.p("Title_20_data", f"{escape(key)}<text:tab/>{escape(value)}")

    def heading(self, block):
        headings = self.manual.headings()
        if not block.id:
            self.p("StartFront" if block is headings[0] else "Front_20_heading", escape(block.text))
            return
        style, plain = f"Heading_20_{block.level + 1}", ""
        if block is next(b for b in headings if b.number):
            style = "StartBody"
        elif not block.number:
            style, plain = "Heading_20_unnumbered", ' text:is-list-header="true"'
        self.out.append(
            f'<text:h text:style-name="{style}" text:outline-level="{block.level + 1}"{plain}>'
            f'<text:bookmark text:name="{block.id}"/>{escape(block.text)}</text:h>'
        )

    def para(self, block):
        self.p("Text_20_body", self.inline(block.text))

    def box(self, block):
        self.p(f"{block.id}_20_title", block.id)
        self.p(f"{block.id}_20_text", self.inline(block.text))

    def bullets(self, block):
        opened, closed = "<text:list><text:list-item>", "</text:list-item></text:list>"
        depth = -1
        for level, text in block.items:
            if depth < 0:
                self.out.append('<text:list text:style-name="Bullets"><text:list-item>')
            elif level > depth:
                self.out.append(opened)
            else:
                self.out.append(closed * (depth - level) + "</text:list-item><text:list-item>")
            depth = level
            self.p("List_20_item", self.inline(text))
        self.out.append(closed * (depth + 1))

    def steps(self, block):
        self.out.append('<text:list text:style-name="Steps">')
        start = f' text:start-value="{block.items[0][0]}"'
        for _, text, substeps in block.items:
            self.out.append(f"<text:list-item{start}>")
            self.p("Step", self.inline(text))
            if substeps:
                self.out.append("<text:list>")
                for substep in substeps:
                    self.out.append("<text:list-item>")
                    self.p("Step", self.inline(substep))
                    self.out.append("</text:list-item>")
                self.out.append("</text:list>")
            self.out.append("</text:list-item>")
            start = ""
        self.out.append("</text:list>")

    def table(self, block):
        self.tables += 1
        name = f"Table{self.tables}"
        self.p("Caption", f"Table {self.sequence()}: {self.inline(block.text)}")
        self.add_table_styles(name, block)
        self.out.append(f'<table:table table:name="{name}" table:style-name="{name}">')
        for n in range(len(block.widths)):
            self.out.append(f'<table:table-column table:style-name="{name}.{n}"/>')
        for r, row in enumerate(spans(block.items)):
            line = "".join(self.cell(r, cell) for cell in row)
            line = f'<table:table-row table:style-name="Row">{line}</table:table-row>'
            head = ("<table:table-header-rows>", "</table:table-header-rows>")
            self.out.append(line if r else line.join(head))
        self.out.append("</table:table>")
        self.p("After_20_table", "")

    def sequence(self):
        return (
            f'<text:sequence text:ref-name="refTable{self.tables}" text:name="Table" '
            f'text:formula="ooow:Table+1" style:num-format="1">{self.tables}</text:sequence>'
        )

    def add_table_styles(self, name, block):
        whole = len(block.items) < SHORT_TABLE
        self.table_styles.append(
            f'<style:style style:name="{name}" style:family="table"><style:table-properties '
            f'style:width="{TEXT_WIDTH}cm" table:align="left" table:border-model="collapsing" '
            f'style:may-break-between-rows="{str(not whole).lower()}"/></style:style>'
        )
        for n, width in enumerate(block.widths):
            self.table_styles.append(
                f'<style:style style:name="{name}.{n}" style:family="table-column">'
                "<style:table-column-properties "
                f'style:column-width="{TEXT_WIDTH * width / sum(block.widths):.3f}cm"/>'
                "</style:style>"
            )

    def cell(self, row, cell):
        if cell is None:
            return "<table:covered-table-cell/>"
        text, across, down = cell
        style = "HeadCell" if row == 0 else "ShadeCell" if row % 2 == 0 and down == 1 else "Cell"
        paragraph = "Table_20_head" if row == 0 else "Table_20_text"
        return (
            f'<table:table-cell table:style-name="{style}" office:value-type="string" '
            f'table:number-columns-spanned="{across}" table:number-rows-spanned="{down}">'
            f'<text:p text:style-name="{paragraph}">{self.inline(text)}</text:p></table:table-cell>'
        )

    def figure(self, block):
        self.figures += 1
        drawing = (HERE / block.id).read_bytes()
        height = FIGURE_WIDTH * svg_ratio(drawing.decode())
        self.p(
            "Figure",
            f'<draw:frame draw:name="Figure{self.figures}" draw:style-name="Drawing" '
            f'text:anchor-type="as-char" svg:width="{FIGURE_WIDTH}cm" svg:height="{height:.2f}cm">'
            '<draw:image draw:mime-type="image/svg+xml"><office:binary-data>'
            f"{base64.b64encode(drawing).decode()}</office:binary-data></draw:image></draw:frame>",
        )
        self.p("Figure_20_caption", f"Figure {self.figures}: {self.inline(block.text)}")

    def glossary(self, block):
        for term, explanation in block.items:
            bold = f'<text:span text:style-name="Bold">{escape(term)}</text:span>'
            self.p("Glossary", f"{bold}<text:tab/>{self.inline(explanation)}")

    def index(self, block):
        self.out.append('<text:section text:style-name="IndexColumns" text:name="Index">')
        for term, idents in block.items:
            pages = sorted({self.pages.get(ident, 0) for ident in idents.split(", ")})
            self.p("Index", f"{escape(term)}<text:tab/>{', '.join(map(str, pages))}")
        self.out.append("</text:section>")

    def toc(self, _block):
        self.out.append(
            '<text:table-of-content text:name="Contents" text:protected="true">'
            '<text:table-of-content-source text:outline-level="3"/>'
            '<text:index-body><text:index-title text:name="Contents_Head">'
        )
        self.p("StartContents", escape(self.manual.meta["contents"]))
        self.out.append("</text:index-title>")
        for b in self.manual.headings():
            if b.id:
                number = f"{b.number}<text:tab/>" if b.number else ""
                line = f"{number}{escape(b.text)}<text:tab/>{self.pages.get(b.id, 0)}"
                style = b.level + 1 if b.number else "plain"
                self.p(f"Contents_20_{style}", link(b.id, line))
        self.out.append("</text:index-body></text:table-of-content>")


def link(ident, xml):
    return (
        f'<text:a xlink:type="simple" xlink:href="#{ident}" text:style-name="Internet_20_link" '
        f'text:visited-style-name="Internet_20_link">{xml}</text:a>'
    )


def svg_ratio(svg):
    """Height over width of a drawing."""
    _, _, width, height = svg.split('viewBox="')[1].split('"')[0].split()
    return float(height) / float(width)
