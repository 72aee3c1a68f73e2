"""The hooks of mkdocs: adds the generated pages, and the pages that lie outside the folder docs."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File, Files

from docs.site.reference import ROOT, pages

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

_OUTSIDE = {"index.md": "README.md", "contributing.md": "CONTRIBUTING.md", "benchmarks.md": "benchmarks/README.md"}
"""Pages by the file that contains their text."""

_TABLE_ROW = re.compile(r"^\|.*\|$", re.MULTILINE)
_CODE = re.compile(r"`[^`\n]+`")
"""In tables, GitHub reads a backslash before a bar as an escape, also in code; mkdocs would show it."""

_LINK = re.compile(r"\]\((?P<path>[^):#\s]+)(?P<anchor>#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    for path, source in _OUTSIDE.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, path, content=_with_links(text, (ROOT / source).parent)))
    for script in sorted((ROOT / "examples").glob("*.q*")):
        files.append(File.generated(config, f"examples/{script.name}.txt", content=script.read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    text = markdown if page.file.generated_by else _with_links(markdown, Path(page.file.abs_src_path).parent)
    return _TABLE_ROW.sub(lambda row: _CODE.sub(lambda code: code[0].replace("\\|", "|"), row[0]), text)


def _with_links(text: str, folder: Path) -> str:
    """The text with links to files as links to their pages, relative to the folder docs, in which all pages lie."""

    def link(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(folder / match["path"]))  # an example may be a symbolic link
        return f"]({_page(target, match['path'])}{match['anchor'] or ''})"

    return _LINK.sub(link, text)


def _page(target: Path, written: str) -> str:
    if not target.is_relative_to(ROOT):
        return written
    path = target.relative_to(ROOT).as_posix()
    known = {source: page for page, source in _OUTSIDE.items()}
    if path in known:
        return known[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"{path}.txt" if path.startswith("examples/") else written
