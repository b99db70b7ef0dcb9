#!/bin/sh
# Rebuild the sample documents and outline.json from sources/.
#
#   ./build.sh              everything
#   ./build.sh datasheet    one of: service-manual-en service-manual-ko
#                           bulletin-two-column datasheet outline
#
# Installs nothing: it names what is missing and stops.
set -eu
cd "$(dirname "$0")"

missing=""
need() {
    command -v "$1" >/dev/null 2>&1 || missing="$missing
  $1: $2"
}
need python3 "Python 3.11 or later"
need soffice "LibreOffice Writer"
need chromium "Chromium 131 or later, for the running heads"
need pdflatex "a LaTeX with the packages titlesec, enumitem, microtype, balance and lmodern"
need pdftotext "the Poppler command-line tools"
need fc-list "Fontconfig"
if command -v fc-list >/dev/null 2>&1; then
    for font in "Liberation Serif" "Liberation Sans" "Liberation Mono" NanumBarunGothic; do
        [ -n "$(fc-list "$font" family)" ] || missing="$missing
  $font: this font"
    done
fi
if [ -n "$missing" ]; then
    echo "build.sh needs:$missing" >&2
    exit 1
fi

exec python3 -B sources/build.py "$@"
