"""Write a manual as an HTML page for Chromium, with running heads per chapter.

The style is in manual.css.
"""

from html import escape
from pathlib import Path

from markup import inline, spans

HERE = Path(__file__).resolve().parent
SHORT_TABLE = 13  # rows; a shorter table is not broken across pages


class Html:
    def __init__(self, manual, pages):
        self.manual, self.pages = manual, pages
        self.out, self.page_rules, self.waiting_notes = [], [], []
        self.notes = self.tables = self.figures = self.chapters = 0

    def document(self):
        meta = self.manual.meta
        self.title_page()
        self.out.append("<section>")
        for block in self.manual.blocks:
            getattr(self, block.kind)(block)
        self.out.append("</section>")
        style = [
            (HERE / "manual.css").read_text(encoding="utf-8"),
            f'@page {{ @top-left {{ content: "{meta["header"]}"; }} }}',
            f'@page {{ @bottom-left {{ content: "{meta["footer"]}"; }} }}',
            *self.page_rules,
        ]
        return "\n".join(
            [
                f'<!DOCTYPE html>\n<html lang="{meta["lang"]}"><head><meta charset="utf-8">',
                f"<title>{escape(meta['title'])} {escape(meta['models'])}</title>",
                "<style>",
                *style,
                "</style></head><body>",
                "".join(self.out),
                "</body></html>\n",
            ]
        )

    # -- text -----------------------------------------------------------------

    def inline(self, text):
        return "".join(self.piece(kind, value) for kind, value in inline(text))

    def piece(self, kind, value):
        if kind == "ref":
            return f'<a href="#{value}">{escape(self.manual.section_number(value))}</a>'
        if kind == "note":
            return self.footnote(value)
        form = {"text": "{}", "bold": "<b>{}</b>", "code": "<code>{}</code>"}[kind]
        return form.format(escape(value))

    def footnote(self, text):
        """Return the mark; the note itself is printed below the block."""
        self.notes += 1
        mark = f"<sup>{self.notes})</sup>"
        self.waiting_notes.append(f'<p class="footnote">{mark} {self.inline(text)}</p>')
        return mark

    def put_notes(self):
        self.out.extend(self.waiting_notes)
        self.waiting_notes = []

    # -- blocks ---------------------------------------------------------------

    def title_page(self):
        meta = self.manual.meta
        self.out.append(
            '<section class="title"><div class="bar"></div>'
            f'<p class="name">{escape(meta["title"])}</p>'
            f'<p class="sub">{escape(meta["subtitle"])}</p>'
            f'<p class="sub kind">{escape(meta["models"])}</p><table>'
        )
        for line in meta["data"].split(" | "):
            key, value = line.split(": ", 1)
            self.out.append(f"<tr><td>{escape(key)}</td><td>{escape(value)}</td></tr>")
        self.out.append("</table></section>")

    def heading(self, block):
        if not block.id:
            self.out.append(f'<h1 class="front">{escape(block.text)}</h1>')
            return
        if block.level == 0:
            self.start_chapter(f"{block.number} {block.text}".strip())
        number = f'<span class="number">{escape(block.number)}</span> ' if block.number else ""
        tag = f"h{block.level + 1}"
        self.out.append(f'<{tag} id="{block.id}">{number}{escape(block.text)}</{tag}>')

    def start_chapter(self, head):
        self.chapters += 1
        name = f"chapter{self.chapters}"
        self.page_rules.append(f'@page {name} {{ @top-right {{ content: "{head}"; }} }}')
        self.out.append(f'</section><section style="page: {name}">')

    def para(self, block):
        self.out.append(f"<p>{self.inline(block.text)}</p>")
        self.put_notes()

    def box(self, block):
        self.out.append(
            f'<div class="box {block.id.lower()}">'
            f'<p class="signal">{escape(self.manual.meta[block.id])}</p>'
            f"<p>{self.inline(block.text)}</p></div>"
        )

    def bullets(self, block):
        depth = -1
        for level, text in block.items:
            if level > depth:
                self.out.append("<ul><li>")
            else:
                self.out.append("</li></ul>" * (depth - level) + "</li><li>")
            depth = level
            self.out.append(self.inline(text))
        self.out.append("</li></ul>" * (depth + 1))

    def steps(self, block):
        self.out.append(f'<ol start="{block.items[0][0]}">')
        for _, text, substeps in block.items:
            inner = "".join(f"<li>{self.inline(substep)}</li>" for substep in substeps)
            inner = f"<ol>{inner}</ol>" if inner else ""
            self.out.append(f"<li>{self.inline(text)}{inner}</li>")
        self.out.append("</ol>")
        self.put_notes()

    def table(self, block):
        self.tables += 1
        caption = f"{self.manual.meta['table']} {self.tables}. {self.inline(block.text)}"
        whole = " whole" if len(block.items) < SHORT_TABLE else ""
        self.out.append(f'<p class="caption">{caption}</p><table class="grid{whole}"><colgroup>')
        for width in block.widths:
            self.out.append(f'<col style="width:{100 * width / sum(block.widths):.1f}%">')
        self.out.append("</colgroup>")
        for r, row in enumerate(spans(block.items)):
            cells = "".join(self.cell("td" if r else "th", *cell) for cell in row if cell)
            line = f"<tr>{cells}</tr>"
            self.out.append(line if r else f"<thead>{line}</thead><tbody>")
        self.out.append("</tbody></table>")

    def cell(self, tag, text, across, down):
        join = f' colspan="{across}"' if across > 1 else ""
        join += f' rowspan="{down}"' if down > 1 else ""
        return f"<{tag}{join}>{self.inline(text)}</{tag}>"

    def figure(self, block):
        self.figures += 1
        drawing = (HERE / block.id).read_text(encoding="utf-8")
        caption = f"{self.manual.meta['figure']} {self.figures}. {self.inline(block.text)}"
        self.out.append(f"<figure>{drawing}<figcaption>{caption}</figcaption></figure>")

    def glossary(self, block):
        self.out.append("<dl>")
        for term, explanation in block.items:
            text = self.inline(explanation)
            self.out.append(f"<div><dt>{escape(term)}</dt> <dd>{text}</dd></div>")
        self.out.append("</dl>")

    def index(self, block):
        self.out.append('<div class="index">')
        for term, idents in block.items:
            pages = sorted({self.pages.get(ident, 0) for ident in idents.split(", ")})
            self.line("", f"<span>{escape(term)}</span>", ", ".join(map(str, pages)))
        self.out.append("</div>")

    def toc(self, _block):
        self.out.append(f'<nav><h1 class="front">{escape(self.manual.meta["contents"])}</h1>')
        for b in self.manual.headings():
            if b.id:
                number = f'<span class="number">{escape(b.number)}</span>' if b.number else ""
                text = f'<a href="#{b.id}">{number}{escape(b.text)}</a>'
                self.line(f"toc{b.level}", text, self.pages.get(b.id, 0))
        self.out.append("</nav>")

    def line(self, style, text, pages):
        """Put a line with a dotted leader to the page numbers."""
        self.out.append(f'<p class="line {style}">{text}<i></i><span>{pages}</span></p>')
