"""Makes the documents of this folder from `sources/`, by the programs that people make them with.

Run it after a change in `sources/`, with pandoc, LibreOffice (Writer, Calc) and Chromium installed:

    python tests/data/formats/make.py

Markdown, plain text, CSV and source code are written by hand. The versions used last were pandoc
2.17, LibreOffice 7.4 and Chromium 156; other ones write other bytes, and the same text.
"""

from __future__ import annotations

import email.policy
import shutil
import subprocess
import tempfile
from email.message import EmailMessage
from pathlib import Path

HERE = Path(__file__).parent
SOURCES = HERE / "sources"


def run(*command: str | Path) -> str:
    done = subprocess.run([str(part) for part in command], check=True, capture_output=True)
    return done.stdout.decode()


def pandoc() -> None:
    for ending in ("docx", "epub", "rtf"):
        run("pandoc", "-s", SOURCES / "manual.html", "-o", HERE / f"pandoc.{ending}")
    run("pandoc", "-s", "--slide-level=2", SOURCES / "slides.md", "-o", HERE / "pandoc.pptx")


def libreoffice() -> None:
    with tempfile.TemporaryDirectory() as folder:
        profile = f"-env:UserInstallation=file://{folder}/profile"

        def convert(source: Path, kind: str, *options: str) -> None:
            run(
                "soffice",
                profile,
                "--headless",
                *options,
                "--convert-to",
                kind,
                "--outdir",
                folder,
                source,
            )

        convert(SOURCES / "manual.html", "odt:writer8", "--infilter=HTML (StarWriter)")
        for ending in ("docx", "rtf"):
            convert(Path(folder) / "manual.odt", ending)
        convert(SOURCES / "workbook.fods", "xlsx")
        for name in ("manual.odt", "manual.docx", "manual.rtf", "workbook.xlsx"):
            shutil.copyfile(Path(folder) / name, HERE / name.replace("manual", "libreoffice"))
        # Presentations pass through Impress, which writes bullets and places out in full.
        convert(HERE / "pandoc.pptx", "pptx")
        shutil.copyfile(Path(folder) / "pandoc.pptx", HERE / "libreoffice.pptx")


def chromium() -> None:
    page = f"file://{SOURCES / 'page.html'}"
    html = run("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page)
    (HERE / "page.html").write_text(html, encoding="utf-8")


def mail() -> None:
    message = EmailMessage(policy=email.policy.SMTP)
    message["From"] = "Kim Minji <minji@pumps.example>"
    message["To"] = "service@pumps.example"
    message["Date"] = "Mon, 02 Mar 2026 09:30:00 +0900"
    message["Subject"] = "펌프 CP-40: error E-17"
    message.set_content("The HTML part goes before this one.")
    message.add_alternative(
        "<html><body><h1>Report</h1><p>The pump stopped at 96 °C.</p>"
        "<table><tr><th>Code</th><th>Count</th></tr><tr><td>E-17</td><td>3</td></tr></table>"
        "<ol><li>Clean the filter.</li><li>Start again.</li></ol></body></html>",
        subtype="html",
    )
    message.add_attachment("log", filename="pump.log")
    (HERE / "html.eml").write_bytes(message.as_bytes())
    plain = EmailMessage(policy=email.policy.SMTP)
    plain["From"] = "minji@pumps.example"
    plain["To"] = "service@pumps.example"
    plain["Date"] = "Mon, 02 Mar 2026 10:00:00 +0900"
    plain["Subject"] = "Re: 펌프"
    plain.set_content("필터를 청소했습니다.\n\n> The pump stopped.\n", charset="euc-kr")
    (HERE / "plain.eml").write_bytes(plain.as_bytes())


if __name__ == "__main__":
    pandoc()
    libreoffice()
    chromium()
    mail()
