"""What MkDocs has to know to show pages that are written for GitHub."""

import posixpath
import re
import unicodedata
from pathlib import Path

here = Path(__file__).parent
repository = "https://github.com/bmad-mcp/bmad-mcp/blob/main/"
link = re.compile(r"(\]\()([^)\s#]+)")
entry = re.compile(r"\[([^\]]+)\]\(([^)#]+\.md)\)")


def anchor(title, separator):
    """The name of a heading, as GitHub makes it."""
    kept = (c for c in title.strip().lower() if c in " -_" or unicodedata.category(c)[0] in "LN")
    return "".join(kept).replace(" ", separator)


def contents(index):
    """The pages that an index links, by its headings."""
    out = []
    for part in index.read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _, rest = part.partition("\n")
        out.append({title: [{name: page} for name, page in entry.findall(rest)]})
    return out


def on_config(config):
    docs = Path(config["docs_dir"])
    reference = [{"Commands": "reference/commands.md"}]
    config["nav"] = [
        {language: [{title: index}, *contents(docs / index), *reference]}
        for language, title, index in [("English", "Documentation", "README.md"), ("中文", "文档", "README.zh.md")]
    ]
    config["mdx_configs"].setdefault("toc", {})["slugify"] = anchor
    return config


def on_files(files, config):
    for file in [f for f in files if f.src_uri.endswith(".go")]:
        files.remove(file)
    return files


def on_page_markdown(markdown, page, config, files):
    """Leads links out of docs to the repository, and shows the name of a file above its text."""

    def outside(match):
        target = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page.file.src_uri), match[2]))
        return match[0] if "://" in match[2] or target.startswith("docs/") else match[1] + repository + target

    markdown = link.sub(outside, markdown)
    return re.sub(r"(?m)^```(\w+) title=(\S+)$", r"`\2`:\n\n```\1", markdown)


def on_post_build(config):
    """Has the search find Chinese words, which have no spaces between them."""
    worker = Path(config["site_dir"]) / "search" / "worker.js"
    text = worker.read_text(encoding="utf-8")
    for old, new in [
        ("  if (data.index) {", "  chinese();\n  if (data.index) {"),
        ("index.search(query)", "index.search(asked(query))"),
    ]:
        if text.count(old) != 1:
            raise SystemExit(f"the search of this MkDocs is another: {old!r} is not in it once")
        text = text.replace(old, new)
    worker.write_text(text + (here / "search.js").read_text(encoding="utf-8"), encoding="utf-8")
