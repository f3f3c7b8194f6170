"""The documentation site: from the pages of the repository through doxygen to what is read.

  pages.py OUT        writes OUT/en and OUT/zh, and OUT/index.html; run in the checkout

The prose is HTML when doxygen gets it: its own idea of Markdown is not that of a git host (anchors, <details>, tables with
code, two hyphens, Chinese text around emphasis). Blocks of C++ are left to doxygen, which colours them and links the names
that the reference has. What doxygen has written is completed: titles, navigation, links between the languages, search. A
link that leads nowhere is an error, and so is every warning of doxygen.
"""
import fnmatch
import glob
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

from markdown_it import MarkdownIt

LANGUAGES = ("en", "zh")
WORDS = {
    "en": {"LANG": "en", "TWIN_LANG": "zh-CN", "TWIN_NAME": "中文", "SEARCH": "Search", "NOTHING": "Nothing found.", "MENU": "Contents",
           "COPY": "Copy",
           "LICENCE": "Prose: CC BY 4.0, code: MIT", "more": "More", "reference": "Reference of common/",
           "files": "Files", "types": "Types", "lab": "The lab of this chapter",
           "chapter": "The chapter of this lab", "sources": "A file or folder of the repository. These pages lead here:"},
    "zh": {"LANG": "zh-CN", "TWIN_LANG": "en", "TWIN_NAME": "English", "SEARCH": "搜索", "NOTHING": "没有找到。", "MENU": "目录",
           "COPY": "复制",
           "LICENCE": "文字：CC BY 4.0，代码：MIT", "more": "其他", "reference": "common/ 参考（英文）",
           "files": "文件", "types": "类型", "lab": "本章的实验",
           "chapter": "本实验对应的章节", "sources": "仓库中的文件或文件夹。以下页面链接到这里：",
           "missing": "本页还没有中文版，下面是英文版。"},
}
CHINESE = "\u3000-\u303f\u4e00-\u9fff\uff00-\uffef"
CPP = (".cpp", ".hpp", ".inc")


def fail(text):
    sys.exit(f"lab: {text}")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def twin(path):
    return path[:-3] + ".zh-CN.md"


def name_of(path):
    """The name of the page of a Markdown file, the same in both languages: chapters/05-queue-pair/README.md is
    chapters-05-queue-pair."""
    name = re.sub(r"(/?README)?(\.zh-CN)?\.md$", "", path)
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower() or "index"


def source_name(path):
    return "source-" + re.sub(r"[^A-Za-z0-9]", lambda match: "-" if match[0] in "/-" else "_", path.strip("/"))


def groups():
    """The navigation: (title in both languages or None, its pages) in order; English paths."""
    pages = {path for pattern in ("README.md", "chapters/*/README.md", "labs/*/README.md", "docs/**/*.md")
             for path in glob.glob(pattern, recursive=True)
             if not path.endswith(".zh-CN.md") and not path.startswith("docs/site/")}
    lines = [line for line in read("docs/site/navigation").splitlines() if not line.startswith("#")]
    literal = {line for line in lines if "*" not in line}
    result, title, seen = [], None, set()
    for line in lines:
        if match := re.fullmatch(r"\[(.*) \| (.*)\]", line):
            title = dict(zip(LANGUAGES, match.groups()))
            result.append((title, []))
        elif not line:
            title = None
        else:
            found = [path for path in sorted(pages) if path not in seen
                     and (path == line or ("*" in line and path not in literal and fnmatch.fnmatch(path, line)))]
            seen.update(found)
            if title:
                result[-1][1].extend(found)
            else:
                result.extend((None, [path]) for path in found)
    if rest := sorted(pages - seen):
        result.append(({language: WORDS[language]["more"] for language in LANGUAGES}, rest))
    return [group for group in result if group[1]]


class Page:
    """One Markdown file: its title, the anchors of its headings, and its HTML with the links as they are written."""

    def __init__(self, path):
        self.path = path
        # The line that leads to the other language on a git host; here the bar above each page does.
        text = re.sub(r"^\[(English|中文|简体中文)\]\([^)\n]*\)$", "", read(path), count=1, flags=re.M)
        markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
        tokens = markdown.parse(text)
        if not tokens or tokens[0].tag != "h1":
            fail(f"{path} does not begin with a title")
        self.title = plain(tokens[1])
        self.heading = markdown.renderer.renderInline(tokens[1].children, markdown.options, {})
        self.anchors = []
        self.sections = []  # (anchor, title) of the second level
        seen = {}
        for token, inline in zip(tokens, tokens[1:]):
            if token.type == "heading_open":
                anchor = re.sub(r"[^\w\- ]", "", plain(inline).lower()).replace(" ", "-")
                seen[anchor] = seen.get(anchor, -1) + 1
                self.anchors.append(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
                token.attrSet("id", self.anchors[-1])
                if token.tag == "h2":
                    self.sections.append((self.anchors[-1], plain(inline)))
            elif token.type == "html_block" and token.content.startswith("<!--"):
                token.content = ""
        self.code = []  # (kind, text) of each block
        markdown.renderer.rules["fence"] = self.block
        markdown.renderer.rules["code_block"] = self.block
        markdown.add_render_rule("table_open", lambda *_: '<div class="table"><table class="prose">\n')
        markdown.add_render_rule("table_close", lambda *_: "</table></div>\n")
        self.html = markdown.renderer.render(tokens[3:], markdown.options, {})
        if path.endswith(".zh-CN.md"):  # between two Chinese characters the end of a line is no space
            self.html = re.sub(f"(?<=[{CHINESE}])\n(?=[{CHINESE}])", "", self.html)

    def block(self, tokens, index, *_):
        self.code.append((tokens[index].info.strip(), tokens[index].content))
        return f"\0{len(self.code) - 1}\0"


def plain(inline):
    """The text of a heading, without its markup."""
    return "".join(token.content for token in inline.children if token.type in ("text", "code_inline"))


class Site:
    """All pages, and in which language a reader gets each."""

    def __init__(self):
        self.groups = groups()
        self.order = [path for _, paths in self.groups for path in paths]
        self.pages = {path: Page(path) for path in self.order}
        self.pages.update({twin(path): Page(twin(path)) for path in self.order if os.path.exists(twin(path))})
        self.sources = {}  # files and folders that become pages themselves, each with the pages that lead to it
        self.copies = {path: copy_name(path) for path in glob.glob("docs/**/*.svg", recursive=True)}

    def shown(self, path, language):
        return self.pages[twin(path) if language == "zh" and twin(path) in self.pages else path]

    def address(self, page, target, language):
        """Where a link of a page leads, in the site of one language."""
        target = html.unescape(target)
        if re.match(r"[a-z]+:", target):
            return target
        place, _, anchor = urllib.parse.unquote(target).partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page.path), place)) if place else page.path
        if path.startswith(("..", "/")) or not os.path.exists(path):
            fail(f"{page.path}: {target} is not there")
        if os.path.exists(os.path.join(path, "README.md")):
            path = os.path.normpath(os.path.join(path, "README.md"))
        if path in self.pages:
            shown = self.shown(re.sub(r"\.zh-CN\.md$", ".md", path), language)
            address = name_of(path) + ".html"
            if not anchor:
                return address
            # The same heading, though the page that is shown may be the one in the other language.
            if anchor not in self.pages[path].anchors or len(shown.anchors) != len(self.pages[path].anchors):
                fail(f"{page.path}: {target}: there is no such heading")
            return address + "#" + shown.anchors[self.pages[path].anchors.index(anchor)]
        if is_copied(path):
            self.copies[path] = copy_name(path)
            return self.copies[path]
        if in_reference(path):
            return reference_name(path)
        self.sources.setdefault(path, set()).add(re.sub(r"\.zh-CN\.md$", ".md", page.path))
        return source_name(path) + ".html"

    def prepare(self, stage):
        for language in LANGUAGES:
            for path in self.order:
                name = f"{stage}/{language}/{name_of(path)}.md"
                if os.path.exists(name):
                    fail(f"{path}: another page has the same name, {name_of(path)}")
                write(name, self.convert(path, language))
        for path in glob.glob("common/*.cpp"):
            self.sources.setdefault(path, set()).add(path[:-4] + ".hpp")
        # What is in a folder that a page leads to is led to as well.
        todo = list(self.sources)
        while todo:
            for path in inside(todo.pop()):
                if is_copied(path):
                    self.copies[path] = copy_name(path)
                elif path not in self.sources and path not in self.pages and not in_reference(path):
                    self.sources[path] = set()
                    todo.append(path)
        for path in self.sources:
            for language in LANGUAGES:
                name = f"{stage}/{language}/{source_name(path)}.md"
                if os.path.exists(name):
                    fail(f"{path}: another file has the same name for its page, {source_name(path)}")
                write(name, self.source(path, language))
            if path.endswith(CPP):
                write(f"{stage}/files/{path}", read(path))
        shutil.copytree("common", f"{stage}/common")
        shutil.copytree("docs/site", f"{stage}/site")

    def convert(self, path, language):
        """What doxygen gets for one page."""
        page = self.shown(path, language)
        text = re.sub(r'\b(href|src)="([^"]*)"',
                      lambda match: f'{match[1]}="{html.escape(self.address(page, match[2], language))}"', page.html)
        if language == "zh" and page.path == path and path != "docs/glossary.md":
            text = f'<p class="notice">{WORDS["zh"]["missing"]}</p>\n<div lang="en">\n{text}</div>\n'
        result = [start(name_of(path))]
        for number, part in enumerate(text.split("\0")):
            if number % 2 == 0:
                result.append(raw(part))
            else:
                result.append(code(*page.code[int(part)]))
        result.append(raw(self.foot(path, language)))
        return "".join(result)

    def foot(self, path, language):
        """Previous and next page; the lab of a chapter and the chapter of a lab."""
        words = WORDS[language]
        place = self.order.index(path)
        lines = []
        for side, other in (("prev", place - 1), ("next", place + 1)):
            if 0 <= other < len(self.order):
                lines.append(self.link(self.order[other], language, f' rel="{side}"'))
        kind, _, rest = path.partition("/")
        for mine, other in (("chapters", "labs"), ("labs", "chapters")):
            if kind == mine and f"{other}/{rest}" in self.pages:
                label = words["lab" if other == "labs" else "chapter"]
                lines.append(f'<a class="companion" href="{name_of(f"{other}/{rest}")}.html">{label}</a>')
        return '<nav class="foot">\n' + "\n".join(lines) + "\n</nav>\n"

    def link(self, path, language, more=""):
        page = self.shown(path, language)
        return f'<a{more} href="{name_of(path)}.html">{html.escape(short(page))}</a>'

    def source(self, path, language):
        """A file, or the list of what a folder holds."""
        above = [os.path.dirname(path)] if os.path.dirname(path) in self.sources else []
        links = [self.item(other, language) for other in above + sorted(self.sources[path])]
        leads = f'<div class="leads"><p>{WORDS[language]["sources"]}</p><ul>\n{"".join(links)}</ul></div>\n'
        result = start(source_name(path)) + raw(leads)
        if os.path.isdir(path):
            return result + raw("<ul>\n" + "".join(self.item(inner, language) for inner in inside(path)) + "</ul>\n")
        if path.endswith(CPP):
            return result + f"\\includelineno {path}\n"
        return result + raw(f'<pre class="fragment">{html.escape(read(path))}</pre>\n')

    def item(self, path, language):
        if path in self.pages:
            return f"<li>{self.link(path, language)}</li>\n"
        if is_copied(path):
            address = copy_name(path)
        else:
            address = reference_name(path) if in_reference(path) else source_name(path) + ".html"
        return f'<li><a href="{address}">{html.escape(path)}</a></li>\n'

    def navigation(self, name, language):
        """The list beside a page: of the groups, the one that the page is in is open; below the page its sections."""
        words = WORDS[language]
        here = next((path for path in self.order if name_of(path) == name), None)
        lines = ["<ul>"]
        for title, paths in self.groups:
            if title is None:
                lines.append(self.entry(paths[0], here, language))
                continue
            lines.append(f'<li><details{" open" if here in paths else ""}><summary>{title[language]}</summary><ul>')
            lines += [self.entry(path, here, language) for path in paths]
            lines.append("</ul></details></li>")
        reference = [("files", words["files"]), ("annotated", words["types"])]
        reference += [(reference_name(path)[:-5], os.path.basename(path)) for path in sorted(glob.glob("common/*.hpp"))]
        inside_it = here is None and not name.startswith("source-")
        lines.append(f'<li><details{" open" if inside_it else ""}><summary>{words["reference"]}</summary><ul>')
        for other, title in reference:
            current = ' aria-current="page"' if other == name else ""
            lines.append(f'<li><a{current} href="{other}.html">{title}</a></li>')
        lines.append("</ul></details></li></ul>")
        return "\n".join(lines)

    def entry(self, path, here, language):
        if path != here:
            return f"<li>{self.link(path, language)}</li>"
        sections = "".join(f'<li><a href="#{html.escape(anchor)}">{html.escape(title)}</a></li>'
                           for anchor, title in self.shown(path, language).sections)
        current = ' aria-current="page"'
        return f"<li>{self.link(path, language, current)}<ul>{sections}</ul></li>"

    def finish(self, out):
        # Lists of doxygen's that nothing leads to, and the folders that its input came from.
        for path in glob.glob(f"{out}/*/*.html"):
            name = os.path.basename(path)
            if re.match(r"(pages|classes|hierarchy|functions\w*)\.html", name) or \
                    name.startswith("dir_") and "<title>common " not in read(path):
                os.remove(path)
        names = {language: {os.path.basename(path) for path in glob.glob(f"{out}/{language}/*.html")} for language in LANGUAGES}
        for language, other in zip(LANGUAGES, reversed(LANGUAGES)):
            titles = {source_name(path): (path, html.escape(path)) for path in self.sources}
            for path in self.order:
                page = self.shown(path, language)
                titles[name_of(path)] = (page.title, page.heading)
            folder = f"{out}/{language}"
            for path, name in self.copies.items():
                shutil.copyfile(path, f"{folder}/{name}")
            shutil.copyfile("docs/site/site.js", f"{folder}/site.js")
            index = []
            for name in sorted(names[language]):
                text = tidied(read(f"{folder}/{name}"), *titles.get(name[:-5], (None, None)))
                index += found(name, text)
                words = dict(WORDS[language], NAVIGATION=self.navigation(name[:-5], language),
                             TWIN=f"../{other}/{name if name in names[other] else 'index.html'}")
                write(f"{folder}/{name}", re.sub(r"@SITE_([A-Z_]+)@", lambda match: words.get(match[1], match[0]), text))
            write(f"{folder}/search-index.js", f"siteIndex = {json.dumps(index, ensure_ascii=False, separators=(',', ':'))};\n")
        shutil.copyfile("docs/site/index.html", f"{out}/index.html")


def short(page):
    """A title for the navigation: what stands before the colon, except that of a lab, where it is only a number."""
    return page.title if page.path.startswith("labs/") else re.split(": |：", page.title)[0]


def is_copied(path):
    """Pictures, and what is no text."""
    if os.path.isdir(path):
        return False
    with open(path, "rb") as file:
        return path.endswith(".svg") or b"\0" in file.read(10000)


def copy_name(path):
    return re.sub(r"[^A-Za-z0-9.]+", "-", path)


def in_reference(path):
    return re.fullmatch(r"common/\w+\.hpp", path) is not None


def reference_name(path):
    """How doxygen names the page of a header of common/."""
    return os.path.basename(path).replace("_", "__").replace(".", "_8") + ".html"


def inside(path):
    if not os.path.isdir(path):
        return []
    return sorted(os.path.normpath(os.path.join(path, name)) for name in os.listdir(path) if not name.startswith("."))


def start(name):
    """The first line of a page: its name, which becomes its title in finish. The main page gets its name from doxygen."""
    return f"# {name}\n\n" if name == "index" else f"# {name} {{#{name}}}\n\n"


def raw(text):
    """HTML that doxygen passes on. It counts the beginnings and ends of comments in there."""
    text = text.replace("/*", "&#47;*").replace("*/", "*&#47;")
    return f"\\htmlonly[block]\n{text}\\endhtmlonly\n" if text.strip() else ""


def code(kind, text):
    if kind in ("c", "cpp"):
        return f"\n~~~~~{{.cpp}}\n{text}~~~~~\n\n"
    text = html.escape(text, quote=False)
    if kind == "console":
        text = re.sub(r"^\$ (.*)$", r'<span class="prompt">$ </span><b>\1</b>', text, flags=re.M)
    return raw(f'<pre class="fragment">{text}</pre>\n')


def tidied(text, title, heading):
    """A page of doxygen with its title, as a heading, and without an anchor that is named after the folder it was made from."""
    if title:
        text = re.sub(r"<title>.*? \| ", lambda _: f"<title>{html.escape(title)} | ", text, count=1)
    text = re.sub(r'<div class="title">(.*?) *</div>', lambda match: f'<h1 class="title">{heading or match[1]}</h1>', text,
                  count=1, flags=re.S)
    # The page of a header leads to its text; it leads to that of the .cpp as well.
    text = re.sub(r'(<a href="(\w+)_8hpp_source\.html">[^<]*</a>)</p>',
                  lambda match: match[1] + implementation(f"common/{match[2]}.cpp") + "</p>", text, count=1)
    return re.sub(r'<p ><a class="anchor" id="md_[^"]*"></a> </p>\n', "", text)


def implementation(path):
    return f' <a href="{source_name(path)}.html">{path}</a>' if os.path.exists(path) else ""


def found(name, text):
    """What the search finds of a page: (address, title of the page, title of the section, text) for each of its sections."""
    title = re.search(r'<h1 class="title">(.*?)</h1>', text, re.S)
    body = re.search(r'<div class="contents">(.*)</div><!-- contents -->', text, re.S)
    if not title or not body:
        return []
    title = words_of(title[1])
    if name.startswith("source-") or name.endswith("_source.html"):
        return [(name, title, "", "")]
    # Sections of the prose have an anchor of their own, members of the reference one before them.
    parts = re.split(r'(?:<h[23] id="([^"]*)">|<a id="([^"]*)"[^>]*></a>\s*<h2 class="memtitle">)(.*?)</h[23]>',
                     re.sub(r'<nav class="foot">.*?</nav>', "", body[1], flags=re.S), flags=re.S)
    result = [(name, title, "", words_of(parts[0]))]
    for prose, member, heading, rest in zip(parts[1::4], parts[2::4], parts[3::4], parts[4::4]):
        result.append((f"{name}#{prose or member}", title, words_of(heading).replace("◆ ", ""), words_of(rest)))
    return result


def words_of(text):
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", re.sub(r"</?(a|span|code|b|strong|em)\b[^>]*>", "", text))).split())


def doxygen(stage, language):
    name = {"en": "English", "zh": "Chinese"}[language]
    print(f"lab: building the documentation ({name})", file=sys.stderr)
    run = subprocess.run(["doxygen", "site/Doxyfile"], cwd=stage, env=dict(os.environ, SITE_LANG=language, SITE_LANGUAGE=name),
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", check=False)
    if run.returncode:
        said = run.stdout.replace(f"{stage}/", "")
        fail(f"doxygen has something to say, which ends it with {run.returncode}:\n{said}")


def main():
    out = os.path.abspath(sys.argv[1])
    site = Site()
    os.makedirs(out)
    with tempfile.TemporaryDirectory() as stage:
        stage = os.path.realpath(stage)
        site.prepare(stage)
        for language in LANGUAGES:
            doxygen(stage, language)
            shutil.move(f"{stage}/html/{language}", out)
    site.finish(out)


main()
