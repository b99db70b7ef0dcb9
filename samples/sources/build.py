"""Build the sample documents and the list of their headings.

Called by ../build.sh, which checks that the producers are there.
"""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from markup import read_manual
from pages import locate, page_texts
from to_fodt import Fodt
from to_html import Html

SOURCES = Path(__file__).resolve().parent
SAMPLES = SOURCES.parent
EPOCH = 1741564800  # 10 March 2025, written into the files as their date
STAMP = "20250310000000"


def run(*command, **options):
    """Run a producer; show what it printed only if it fails."""
    dates = {"SOURCE_DATE_EPOCH": str(EPOCH), "FORCE_SOURCE_DATE": "1"}
    result = subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **dates},
        check=False,
        **options,
    )
    if result.returncode:
        sys.stderr.buffer.write(result.stdout)
        raise SystemExit(f"{command[0]} failed with status {result.returncode}")


def libreoffice(source, pdf, work):
    options = {
        "UseTaggedPDF": {"type": "boolean", "value": "false"},
        "ExportBookmarks": {"type": "boolean", "value": "true"},
    }
    run(
        "soffice",
        f"-env:UserInstallation={(work / 'profile').as_uri()}",
        "--headless",
        "--convert-to",
        "pdf:writer_pdf_Export:" + json.dumps(options),
        "--outdir",
        work,
        source,
    )
    shutil.move(work / f"{source.stem}.pdf", pdf)
    fix_dates(pdf)


def chromium(source, pdf, work):
    run(
        "chromium",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--no-pdf-header-footer",
        f"--user-data-dir={work / 'browser'}",
        f"--print-to-pdf={pdf}",
        source.as_uri(),
    )
    fix_dates(pdf)


def latex(source, pdf, work):
    for _ in range(3):
        run(
            "pdflatex",
            "-interaction=nonstopmode",
            "-halt-on-error",
            f"-output-directory={work}",
            source.name,
            cwd=source.parent,
        )
    shutil.move(work / f"{source.stem}.pdf", pdf)


def fix_dates(pdf):
    """Give a PDF a fixed date and file identifier; every byte keeps its place."""
    data = pdf.read_bytes()
    data = re.sub(rb"(?<=\(D:)\d{14}", STAMP.encode(), data)
    data = re.sub(rb"(?<=\(D:\d{14})[+-]\d\d'\d\d'", b"+00'00'", data)
    data = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", b"2025-03-10T00:00:00", data)
    trailer = data.rfind(b"/ID")
    if trailer > 0:
        data = data[:trailer] + re.sub(rb"(?<=<)[0-9A-Fa-f]{32}(?=>)", b"0" * 32, data[trailer:])
    data = re.sub(rb"(?<=/DocChecksum /)[0-9A-F]{32}", b"0" * 32, data)
    pdf.write_bytes(data)


def titles(source, front=True):
    """(level, printed title, id) of the headings; the id is empty in the front matter."""
    headings = [b for b in source.headings() if front or b.id]
    return [(b.level, f"{b.number} {b.text}".strip(), b.id) for b in headings]


def manual(name, writer, suffix, producer, restart):
    """Print a manual twice: the second time its page numbers are known.

    With restart, the first chapter begins on the printed page 1.
    """
    source = read_manual(SOURCES / f"{name}.txt")
    pdf, pages = SAMPLES / f"{name}.pdf", {}
    listed = titles(source, front=False)
    for _ in range(4):
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            (work / f"{name}.{suffix}").write_text(
                writer(source, pages).document(), encoding="utf-8"
            )
            producer(work / f"{name}.{suffix}", pdf, work)
        found = locate([title for _, title, _ in listed], page_texts(pdf))
        before = found[0] - 1 if restart else 0
        new = {ident: page - before for (_, _, ident), page in zip(listed, found, strict=True)}
        if new == pages:
            return
        pages = new
    raise RuntimeError(f"the page numbers of {name} do not settle")


def single(name, suffix, producer):
    with tempfile.TemporaryDirectory() as folder:
        producer(SOURCES / f"{name}.{suffix}", SAMPLES / f"{name}.pdf", Path(folder))


def latex_titles(text):
    out, counts = [], [0, 0]
    for kind, title in re.findall(r"^\\(section|subsection)\{(.+)\}$", text, re.MULTILINE):
        level = 0 if kind == "section" else 1
        counts[level] += 1
        counts[level + 1 :] = [0] * (1 - level)
        number = ".".join(str(n) for n in counts[: level + 1])
        out.append((level, f"{number} {title}"))
    return out


def html_titles(text):
    """h2 is level 0; h1 is the name of the product."""
    return [
        (int(level) - 2, html.unescape(re.sub(r"<.+?>", "", title)).strip())
        for level, title in re.findall(r"<h([23])[^>]*>(.+?)</h", text, re.DOTALL)
    ]


def outline():
    plans = {}
    for name in ("service-manual-en", "service-manual-ko"):
        plans[name] = [row[:2] for row in titles(read_manual(SOURCES / f"{name}.txt"))]
    for name, suffix, reader in (
        ("bulletin-two-column", "tex", latex_titles),
        ("datasheet", "html", html_titles),
    ):
        plans[name] = reader((SOURCES / f"{name}.{suffix}").read_text(encoding="utf-8"))
    documents = []
    for name, plan in plans.items():
        texts = page_texts(SAMPLES / f"{name}.pdf", layout=name != "bulletin-two-column")
        pages = locate([title for _, title in plan], texts)
        rows = ",\n".join(
            "    " + json.dumps([level, title, page], ensure_ascii=False)
            for (level, title), page in zip(plan, pages, strict=True)
        )
        documents.append(f'  "{name}.pdf": [\n{rows}\n  ]')
    (SAMPLES / "outline.json").write_text("{\n" + ",\n".join(documents) + "\n}\n", encoding="utf-8")


STEPS = {
    "service-manual-en": lambda: manual(
        "service-manual-en", Fodt, "fodt", libreoffice, restart=True
    ),
    "service-manual-ko": lambda: manual("service-manual-ko", Html, "html", chromium, restart=False),
    "bulletin-two-column": lambda: single("bulletin-two-column", "tex", latex),
    "datasheet": lambda: single("datasheet", "html", chromium),
    "outline": outline,
}

if __name__ == "__main__":
    for step in sys.argv[1:] or STEPS:
        print("building", step)
        STEPS[step]()
