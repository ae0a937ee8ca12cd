"""Pages of the documentation site that are not files in docs/: a hook of MkDocs and an extension of its Python reader.

- The home page is README.md; CONTRIBUTING.md and CHANGELOG.md are pages too.
- The API reference has a page for every public module, read from its docstrings: a new module needs no line anywhere.

Both are named in .mkdocs.yml.
"""

from __future__ import annotations

import re
from pathlib import Path

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "threeup_env"
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
# Compiled functions over records, the commands and the measurements behind `threeup`: how it works, not what to call.
INTERNAL = ("threeup_env.core", "threeup_env.cli", "threeup_env.bench_")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages; called by MkDocs.

    Args:
        files: The files of the site.
        config: The configuration.
    """
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    modules = public_modules()
    for module in modules:
        short = module.removeprefix("threeup_env.")  # in the list of pages
        text = f"---\ntitle: {short}\n---\n# `{module}`\n\n::: {module}\n"
        files.append(File.generated(config, f"api/{module}.md", content=text))
    links = "\n".join(f"- [`{module}`]({module}.md): {summary(path)}" for module, path in modules.items())
    files.append(File.generated(config, "api/index.md", content=f"# API\n\n{links}\n"))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Turn links that are right in the repository into links within the site; called by MkDocs.

    Args:
        markdown: The text of a page.
    """
    markdown = re.sub(r"\]\(docs/", "](", markdown)
    for source, page in PAGES.items():
        markdown = re.sub(rf"\]\((?:\.\./)?{re.escape(source)}", f"]({page}", markdown)
    return markdown


def public_modules() -> dict[str, Path]:
    """Return the modules that users import, by name, with their files."""
    modules = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        if not name.startswith(INTERNAL) and not any(part.startswith("_") for part in name.split(".")):
            modules[name] = path
    return modules


def summary(path: Path) -> str:
    """Return the first line of a module's docstring.

    Args:
        path: Its file.
    """
    return path.read_text(encoding="utf-8").split('"""')[1].splitlines()[0]


class Examples(griffe.Extension):
    """Shows a docstring's `Example:` as code, as griffe does with the `Examples:` of other projects."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Rename the section; called by griffe.

        Args:
            obj: A module, class, function or attribute.
        """
        if obj.docstring:
            obj.docstring.value = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE)
