"""Write a manual as a flat OpenDocument text for LibreOffice Writer."""

import base64
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from markup import inline, spans

HERE = Path(__file__).resolve().parent
TEXT_WIDTH = 17.0  # cm between the margins of an A4 page

NAMESPACES = " ".join(
    f'xmlns:{key}="{value}"'
    for key, value in {
        "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
        "style": "urn:oasis:names:tc:opendocument:xmlns:style:1.0",
        "text": "urn:oasis:names:tc:opendocument:xmlns:text:1.0",
        "table": "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
        "draw": "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0",
        "fo": "urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0",
        "svg": "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0",
        "meta": "urn:oasis:names:tc:opendocument:xmlns:meta:1.0",
        "dc": "http://purl.org/dc/elements/1.1/",
        "xlink": "http://www.w3.org/1999/xlink",
    }.items()
)

BOX_COLOURS = {
    "WARNING": ("#c2410c", "#fff1e8"),
    "CAUTION": ("#a16207", "#fdf6dc"),
    "NOTE": ("#1d4e89", "#eaf1f9"),
}


def paragraph_style(name, parent, paragraph="", text="", extra="", children=""):
    return (
        f'<style:style style:name="{name}" style:family="paragraph" style:parent-style-name="{parent}" {extra}>'
        f"<style:paragraph-properties {paragraph}>{children}</style:paragraph-properties>"
        f"<style:text-properties {text}/></style:style>"
    )


def tab(position, leader=False, kind="right"):
    dots = ' style:leader-style="dotted" style:leader-text="."' if leader else ""
    return f'<style:tab-stops><style:tab-stop style:position="{position}cm" style:type="{kind}"{dots}/></style:tab-stops>'


def toc_tabs(number_end):
    return (
        "<style:tab-stops>"
        f'<style:tab-stop style:position="{number_end}cm"/>'
        f'<style:tab-stop style:position="{TEXT_WIDTH}cm" style:type="right" style:leader-style="dotted" style:leader-text="."/>'
        "</style:tab-stops>"
    )


def styles():
    p = paragraph_style
    out = [
        '<style:default-style style:family="paragraph"><style:paragraph-properties fo:orphans="2" fo:widows="2"/>'
        '<style:text-properties style:font-name="Body" fo:font-size="10pt" fo:language="en" fo:country="GB"/></style:default-style>',
        '<style:style style:name="Standard" style:family="paragraph"/>',
        p("Text_20_body", "Standard", 'fo:margin-bottom="0.22cm" fo:line-height="118%"'),
        p(
            "Heading",
            "Standard",
            'fo:keep-with-next="always"',
            'style:font-name="Heads" fo:font-weight="bold" fo:color="#17324d"',
        ),
        p(
            "Heading_20_1",
            "Heading",
            'fo:break-before="page" fo:margin-bottom="0.5cm" fo:padding-bottom="0.15cm" fo:border-bottom="1.5pt solid #17324d"',
            'fo:font-size="20pt"',
            'style:default-outline-level="1"',
        ),
        p(
            "Heading_20_2",
            "Heading",
            'fo:margin-top="0.5cm" fo:margin-bottom="0.2cm"',
            'fo:font-size="14pt"',
            'style:default-outline-level="2"',
        ),
        p(
            "Heading_20_3",
            "Heading",
            'fo:margin-top="0.35cm" fo:margin-bottom="0.15cm"',
            'fo:font-size="11.5pt"',
            'style:default-outline-level="3"',
        ),
        p(
            "Front_20_heading",
            "Heading",
            'fo:margin-top="0.6cm" fo:margin-bottom="0.3cm"',
            'fo:font-size="16pt"',
        ),
        p(
            "Title",
            "Heading",
            'fo:margin-top="0.6cm" fo:margin-bottom="0.3cm"',
            'fo:font-size="32pt"',
        ),
        p(
            "Subtitle",
            "Heading",
            'fo:margin-bottom="0.3cm"',
            'fo:font-size="16pt" fo:font-weight="normal" fo:color="#3d5a73"',
        ),
        p(
            "Title_20_rule",
            "Standard",
            'fo:margin-top="5cm" fo:border-top="6pt solid #c2410c"',
            'fo:font-size="6pt"',
        ),
        p(
            "Title_20_data",
            "Standard",
            'fo:margin-bottom="0.1cm"',
            'fo:font-size="11pt"',
            children=tab(5, kind="left"),
        ),
        p("List_20_item", "Standard", 'fo:margin-bottom="0.1cm" fo:line-height="115%"'),
        p("Step", "Standard", 'fo:margin-bottom="0.12cm" fo:line-height="115%"'),
        p(
            "Caption",
            "Standard",
            'fo:margin-top="0.25cm" fo:margin-bottom="0.12cm" fo:keep-with-next="always"',
            'fo:font-size="9pt" fo:font-style="italic" fo:color="#3d5a73"',
        ),
        p(
            "Figure_20_caption",
            "Caption",
            'fo:text-align="center" fo:keep-with-next="auto" fo:margin-bottom="0.35cm"',
        ),
        p(
            "Figure",
            "Standard",
            'fo:text-align="center" fo:keep-with-next="always" fo:margin-top="0.2cm"',
        ),
        p("After_20_table", "Standard", 'fo:margin-bottom="0.1cm"', 'fo:font-size="5pt"'),
        p("Table_20_text", "Standard", 'fo:text-align="start"', 'fo:font-size="8.5pt"'),
        p(
            "Table_20_head",
            "Table_20_text",
            "",
            'fo:font-weight="bold" fo:color="#ffffff" style:font-name="Heads"',
        ),
        p(
            "Header",
            "Standard",
            'fo:border-bottom="0.5pt solid #7b8a97" fo:padding-bottom="0.08cm"',
            'fo:font-size="8.5pt" fo:color="#4a5a68"',
            children=tab(TEXT_WIDTH),
        ),
        p(
            "Footer",
            "Standard",
            'fo:border-top="0.5pt solid #7b8a97" fo:padding-top="0.08cm"',
            'fo:font-size="8.5pt" fo:color="#4a5a68"',
            children=tab(TEXT_WIDTH),
        ),
        p(
            "Footnote",
            "Standard",
            'fo:margin-left="0.5cm" fo:text-indent="-0.5cm"',
            'fo:font-size="8pt"',
        ),
        p(
            "Contents_20_1",
            "Standard",
            'fo:margin-top="0.16cm"',
            'fo:font-weight="bold" fo:font-size="9.5pt"',
            children=toc_tabs(1),
        ),
        p(
            "Contents_20_2",
            "Standard",
            'fo:margin-left="1cm"',
            'fo:font-size="9pt"',
            children=toc_tabs(1.2),
        ),
        p(
            "Contents_20_3",
            "Standard",
            'fo:margin-left="2.2cm"',
            'fo:font-size="8.5pt" fo:color="#333333"',
            children=toc_tabs(1.4),
        ),
        p(
            "Glossary",
            "Standard",
            'fo:margin-left="4.2cm" fo:text-indent="-4.2cm" fo:margin-bottom="0.16cm" fo:line-height="115%"',
            children=tab(0, kind="left"),
        ),
        p("Index", "Standard", "", 'fo:font-size="9pt"', children=tab(8, leader=True)),
        '<style:style style:name="Bold" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>',
        '<style:style style:name="Code" style:family="text"><style:text-properties style:font-name="Mono" fo:font-size="9pt"/></style:style>',
        '<style:style style:name="Footnote_20_anchor" style:family="text"><style:text-properties style:text-position="super 58%"/></style:style>',
        '<text:notes-configuration text:note-class="footnote" text:default-style-name="Footnote" text:citation-body-style-name="Footnote_20_anchor" style:num-format="1"/>',
    ]
    for kind, (dark, light) in BOX_COLOURS.items():
        frame = (
            f'fo:background-color="{light}" fo:border-left="4pt solid {dark}" fo:border-right="none" fo:border-top="none" fo:border-bottom="none" '
            'fo:padding-left="0.3cm" fo:padding-right="0.2cm" fo:padding-top="0.1cm" fo:padding-bottom="0.1cm" fo:margin-left="0.4cm" fo:margin-right="0.2cm"'
        )
        out.append(
            p(
                f"{kind}_20_title",
                "Standard",
                f'{frame} fo:margin-top="0.18cm" fo:keep-with-next="always"',
                f'style:font-name="Heads" fo:font-weight="bold" fo:color="{dark}"',
            )
        )
        out.append(
            p(
                f"{kind}_20_text",
                "Standard",
                f'{frame} fo:margin-bottom="0.28cm" fo:keep-together="always" fo:line-height="115%"',
            )
        )
    levels = "".join(
        f'<text:outline-level-style text:level="{n}" style:num-format="1" text:display-levels="{n}"><style:list-level-properties text:list-level-position-and-space-mode="label-alignment">'
        f'<style:list-level-label-alignment text:label-followed-by="listtab" text:list-tab-stop-position="{w}cm" fo:margin-left="{w}cm" fo:text-indent="-{w}cm"/>'
        "</style:list-level-properties></text:outline-level-style>"
        for n, w in ((1, 1.2), (2, 1.4), (3, 1.6))
    )
    out.append(f'<text:outline-style style:name="Outline">{levels}</text:outline-style>')
    out.append(list_style("Bullets", [("bullet", "•", 0.9), ("bullet", "–", 1.5)]))
    out.append(list_style("Steps", [("number", ".", 0.9), ("letter", ")", 1.6)]))
    return "".join(out)


def list_style(name, levels):
    out = []
    for n, (kind, mark, indent) in enumerate(levels, 1):
        place = (
            '<style:list-level-properties text:list-level-position-and-space-mode="label-alignment">'
            f'<style:list-level-label-alignment text:label-followed-by="listtab" text:list-tab-stop-position="{indent}cm" fo:margin-left="{indent}cm" fo:text-indent="-0.6cm"/>'
            "</style:list-level-properties>"
        )
        if kind == "bullet":
            out.append(
                f'<text:list-level-style-bullet text:level="{n}" text:bullet-char="{mark}">{place}<style:text-properties style:font-name="Body"/></text:list-level-style-bullet>'
            )
        else:
            form = "1" if kind == "number" else "a"
            out.append(
                f'<text:list-level-style-number text:level="{n}" style:num-format="{form}" style:num-suffix="{mark}">{place}</text:list-level-style-number>'
            )
    return f'<text:list-style style:name="{name}">{"".join(out)}</text:list-style>'


AUTOMATIC = (
    '<style:page-layout style:name="PlainLayout"><style:page-layout-properties fo:page-width="21cm" fo:page-height="29.7cm" '
    'fo:margin-top="2.5cm" fo:margin-bottom="2cm" fo:margin-left="2cm" fo:margin-right="2cm"/></style:page-layout>'
    + "".join(
        f'<style:page-layout style:name="{name}" style:page-usage="mirrored"><style:page-layout-properties fo:page-width="21cm" fo:page-height="29.7cm" '
        f'style:num-format="{form}" fo:margin-top="1.5cm" fo:margin-bottom="1.3cm" fo:margin-left="2cm" fo:margin-right="2cm"/>'
        '<style:header-style><style:header-footer-properties fo:min-height="1cm" fo:margin-bottom="0.6cm"/></style:header-style>'
        '<style:footer-style><style:header-footer-properties fo:min-height="1cm" fo:margin-top="0.5cm"/></style:footer-style></style:page-layout>'
        for name, form in (("FrontLayout", "i"), ("BodyLayout", "1"))
    )
    + '<style:style style:name="StartFront" style:family="paragraph" style:parent-style-name="Front_20_heading" style:master-page-name="Front"><style:paragraph-properties style:page-number="2"/></style:style>'
    '<style:style style:name="StartBody" style:family="paragraph" style:parent-style-name="Heading_20_1" style:master-page-name="Body"><style:paragraph-properties style:page-number="1"/></style:style>'
    '<style:style style:name="StartContents" style:family="paragraph" style:parent-style-name="Front_20_heading"><style:paragraph-properties fo:break-before="page"/></style:style>'
    '<style:style style:name="Drawing" style:family="graphic"><style:graphic-properties style:wrap="none" style:vertical-pos="top" style:vertical-rel="baseline"/></style:style>'
    '<style:style style:name="HeadCell" style:family="table-cell"><style:table-cell-properties fo:background-color="#17324d" fo:padding="0.09cm" fo:border="0.5pt solid #17324d"/></style:style>'
    '<style:style style:name="Cell" style:family="table-cell"><style:table-cell-properties fo:padding="0.08cm" fo:border="0.5pt solid #9aa8b5"/></style:style>'
    '<style:style style:name="ShadeCell" style:family="table-cell"><style:table-cell-properties fo:background-color="#f0f4f8" fo:padding="0.08cm" fo:border="0.5pt solid #9aa8b5"/></style:style>'
    '<style:style style:name="Row" style:family="table-row"><style:table-row-properties fo:keep-together="always"/></style:style>'
    '<style:style style:name="IndexColumns" style:family="section"><style:section-properties text:dont-balance-text-columns="false">'
    '<style:columns fo:column-count="2" fo:column-gap="1cm"><style:column style:rel-width="1*"/><style:column style:rel-width="1*"/></style:columns></style:section-properties></style:style>'
)


class Fodt:
    def __init__(self, manual, printed_pages):
        self.manual, self.pages = manual, printed_pages
        self.out, self.column_styles = [], []
        self.notes = self.tables = self.figures = self.lists = 0

    def inline(self, text):
        out = []
        for kind, value in inline(text):
            if kind == "text":
                out.append(escape(value))
            elif kind == "ref":
                out.append(
                    f'<text:a xlink:type="simple" xlink:href="#{value}">{escape(self.manual.section_number(value))}</text:a>'
                )
            elif kind == "note":
                self.notes += 1
                out.append(
                    f'<text:note text:id="ftn{self.notes}" text:note-class="footnote"><text:note-citation>{self.notes}</text:note-citation>'
                    f'<text:note-body><text:p text:style-name="Footnote">{self.inline(value)}</text:p></text:note-body></text:note>'
                )
            else:
                out.append(
                    f'<text:span text:style-name="{kind.title()}">{escape(value)}</text:span>'
                )
        return "".join(out)

    def p(self, style, xml):
        self.out.append(f'<text:p text:style-name="{style}">{xml}</text:p>')

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
        mark = f'<text:bookmark text:name="{block.id}"/>' if block.id else ""
        if not block.number and block.text == self.manual.meta["first-front-heading"]:
            self.p("StartFront", mark + escape(block.text))
        elif not block.number and not block.id:
            self.p("Front_20_heading", escape(block.text))
        else:
            first = block is next(b for b in self.manual.headings() if b.number)
            style = "StartBody" if first else f"Heading_20_{block.level + 1}"
            plain = "" if block.number else ' text:is-list-header="true"'
            self.out.append(
                f'<text:h text:style-name="{style}" text:outline-level="{block.level + 1}"{plain}>{mark}{escape(block.text)}</text:h>'
            )

    def para(self, block):
        self.p("Text_20_body", self.inline(block.text))

    def box(self, block):
        self.p(f"{block.id}_20_title", block.id)
        self.p(f"{block.id}_20_text", self.inline(block.text))

    def bullets(self, block):
        depth = -1
        for level, text in block.items:
            if level > depth:
                self.out.append(
                    '<text:list text:style-name="Bullets"><text:list-item>'
                    if depth < 0
                    else "<text:list><text:list-item>"
                )
            else:
                self.out.append(
                    "</text:list-item></text:list>" * (depth - level)
                    + "</text:list-item><text:list-item>"
                )
            depth = level
            self.p("List_20_item", self.inline(text))
        self.out.append("</text:list-item></text:list>" * (depth + 1))

    def steps(self, block):
        self.lists += 1
        self.out.append('<text:list text:style-name="Steps" text:continue-numbering="false">')
        for position, (number, text, substeps) in enumerate(block.items):
            start = f' text:start-value="{number}"' if position == 0 else ""
            self.out.append(f"<text:list-item{start}>")
            self.p("Step", self.inline(text))
            if substeps:
                self.out.append("<text:list>")
                for sub in substeps:
                    self.out.append("<text:list-item>")
                    self.p("Step", self.inline(sub))
                    self.out.append("</text:list-item>")
                self.out.append("</text:list>")
            self.out.append("</text:list-item>")
        self.out.append("</text:list>")

    def table(self, block):
        self.tables += 1
        name = f"Table{self.tables}"
        self.p(
            "Caption",
            f'Table <text:sequence text:ref-name="refTable{self.tables}" text:name="Table" text:formula="ooow:Table+1" '
            f'style:num-format="1">{self.tables}</text:sequence>: {self.inline(block.text)}',
        )
        self.column_styles.append(
            f'<style:style style:name="{name}" style:family="table"><style:table-properties style:width="{TEXT_WIDTH}cm" table:align="left" table:border-model="collapsing"/></style:style>'
        )
        columns = []
        total = sum(block.widths)
        for n, width in enumerate(block.widths):
            self.column_styles.append(
                f'<style:style style:name="{name}.{n}" style:family="table-column"><style:table-column-properties '
                f'style:column-width="{TEXT_WIDTH * width / total:.3f}cm"/></style:style>'
            )
            columns.append(f'<table:table-column table:style-name="{name}.{n}"/>')
        self.out.append(
            f'<table:table table:name="{name}" table:style-name="{name}">{"".join(columns)}'
        )
        for r, row in enumerate(spans(block.items)):
            if r == 0:
                self.out.append("<table:table-header-rows>")
            self.out.append('<table:table-row table:style-name="Row">')
            for cell in row:
                if cell is None:
                    self.out.append("<table:covered-table-cell/>")
                    continue
                text, across, down = cell
                join = (f' table:number-columns-spanned="{across}"' if across > 1 else "") + (
                    f' table:number-rows-spanned="{down}"' if down > 1 else ""
                )
                style = (
                    "HeadCell" if r == 0 else "ShadeCell" if r % 2 == 0 and down == 1 else "Cell"
                )
                self.out.append(
                    f'<table:table-cell table:style-name="{style}" office:value-type="string"{join}>'
                )
                self.p("Table_20_head" if r == 0 else "Table_20_text", self.inline(text))
                self.out.append("</table:table-cell>")
            self.out.append("</table:table-row>")
            if r == 0:
                self.out.append("</table:table-header-rows>")
        self.out.append("</table:table>")
        self.p("After_20_table", "")

    def figure(self, block):
        self.figures += 1
        data = (HERE / block.id).read_bytes()
        width = 13.0
        height = width * svg_ratio(data.decode())
        self.p(
            "Figure",
            f'<draw:frame draw:name="Figure{self.figures}" draw:style-name="Drawing" text:anchor-type="as-char" svg:width="{width}cm" svg:height="{height:.2f}cm">'
            f'<draw:image draw:mime-type="image/svg+xml"><office:binary-data>{base64.b64encode(data).decode()}</office:binary-data></draw:image></draw:frame>',
        )
        self.p("Figure_20_caption", f"Figure {self.figures}: {self.inline(block.text)}")

    def glossary(self, block):
        for term, explanation in block.items:
            self.p(
                "Glossary",
                f'<text:span text:style-name="Bold">{escape(term)}</text:span><text:tab/>{self.inline(explanation)}',
            )

    def index(self, block):
        self.out.append('<text:section text:style-name="IndexColumns" text:name="Index">')
        for term, idents in block.items:
            pages = sorted({self.pages.get(i, 0) for i in idents.split(", ")})
            self.p("Index", f"{escape(term)}<text:tab/>{', '.join(map(str, pages))}")
        self.out.append("</text:section>")

    def toc(self, block):
        title = escape(self.manual.meta["contents"])
        self.out.append(
            '<text:table-of-content text:name="Contents" text:protected="true"><text:table-of-content-source text:outline-level="3"/>'
            '<text:index-body><text:index-title text:name="Contents_Head">'
        )
        self.p("StartContents", title)
        self.out.append("</text:index-title>")
        for b in self.manual.headings():
            if b.id:
                number = f"{b.number}<text:tab/>" if b.number else ""
                self.p(
                    f"Contents_20_{b.level + 1}",
                    f'<text:a xlink:type="simple" xlink:href="#{b.id}">{number}{escape(b.text)}<text:tab/>{self.pages.get(b.id, 0)}</text:a>',
                )
        self.out.append("</text:index-body></text:table-of-content>")

    def master_pages(self):
        meta = self.manual.meta
        document = escape(meta["header"])
        number = escape(meta["footer"])
        chapter = '<text:chapter text:display="number-and-name" text:outline-level="1"/>'
        page = '<text:page-number text:select-page="current"/>'

        def pair(kind, right, left):
            return (
                f'<style:{kind}><text:p text:style-name="{kind.title()}">{right}</text:p></style:{kind}>'
                f'<style:{kind}-left><text:p text:style-name="{kind.title()}">{left}</text:p></style:{kind}-left>'
            )

        foot = pair("footer", f"{number}<text:tab/>{page}", f"{page}<text:tab/>{number}")
        return (
            '<style:master-page style:name="Standard" style:page-layout-name="PlainLayout"/>'
            f'<style:master-page style:name="Front" style:page-layout-name="FrontLayout">{pair("header", document, document)}{foot}</style:master-page>'
            f'<style:master-page style:name="Body" style:page-layout-name="BodyLayout">{pair("header", f"<text:tab/>{chapter}", document)}{foot}</style:master-page>'
        )

    def document(self):
        self.title_page()
        for block in self.manual.blocks:
            getattr(self, block.kind)(block)
        fonts = "".join(
            f'<style:font-face style:name="{name}" svg:font-family={quoteattr(family)}/>'
            for name, family in (
                ("Body", "'Liberation Serif'"),
                ("Heads", "'Liberation Sans'"),
                ("Mono", "'Liberation Mono'"),
            )
        )
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<office:document {NAMESPACES} office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">'
            f"<office:meta><dc:title>{escape(self.manual.meta['title'])}</dc:title></office:meta>"
            f"<office:font-face-decls>{fonts}</office:font-face-decls>"
            f"<office:styles>{styles()}</office:styles>"
            f"<office:automatic-styles>{AUTOMATIC}{''.join(self.column_styles)}</office:automatic-styles>"
            f"<office:master-styles>{self.master_pages()}</office:master-styles>"
            '<office:body><office:text><text:sequence-decls><text:sequence-decl text:display-outline-level="0" text:name="Table"/></text:sequence-decls>'
            f"{''.join(self.out)}</office:text></office:body></office:document>\n"
        )


def svg_ratio(svg):
    """Height over width of the drawing."""
    left, top, width, height = svg.split('viewBox="')[1].split('"')[0].split()
    return float(height) / float(width)
