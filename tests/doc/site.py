"""Looks at the two sites as a browser gets them. site.py OUT, in the checkout; used by site.sh.

What a page must have is read from its Markdown with a few lines of its own, not with what builds the site.
"""
import glob
import html.parser
import os
import re
import sys
import urllib.parse

out = sys.argv[1]
wrong = []
VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta"}


class Html(html.parser.HTMLParser):
    """The ids, addresses, and texts of a page."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.ids, self.links, self.loads, self.headings, self.code = set(), [], [], [], []
        self.rel, self.rows, self.details, self.images, self.lang = {}, 0, 0, 0, None
        self.title = self.twin = None
        self.text, self.spans, self.open = "", set(), []
        self.feed(open(path, encoding="utf-8").read())
        if self.open:
            wrong.append(f"{path}: not closed: {self.open}")

    def handle_starttag(self, tag, pairs):
        attributes = dict(pairs)
        kinds = (attributes.get("class") or "").split()
        self.ids.add(attributes.get("id"))
        if tag == "html":
            self.lang = attributes.get("lang")
        if tag == "a":
            self.ids.add(attributes.get("name"))
            if "href" in attributes:
                self.links.append(attributes["href"])
                self.rel[attributes.get("rel")] = attributes["href"]
                if "twin" in kinds:
                    self.twin = attributes["href"]
        elif tag in ("script", "img", "link") and (attributes.get("src") or attributes.get("href")):
            self.loads.append(attributes.get("src") or attributes["href"])
            self.images += tag == "img"
        if tag not in VOID and tag not in ("p", "li", "dt", "dd"):
            self.open.append((tag, kinds))
        inside = any("textblock" in other for _, other in self.open)
        self.rows += inside and tag == "tr"
        self.details += inside and tag == "details"
        if tag in ("h1", "h2", "h3", "h4", "title") or "fragment" in kinds:
            self.text = ""
        if tag == "span" and self.open and any("fragment" in other for _, other in self.open):
            self.spans.update(kinds)

    def handle_data(self, text):
        self.text += text

    def handle_endtag(self, tag):
        if tag in VOID or tag in ("p", "li", "dt", "dd"):
            return
        if not self.open or self.open[-1][0] != tag:
            wrong.append(f"{self.path}: </{tag}> closes {self.open[-1:]}")
            return
        _, kinds = self.open.pop()
        text = " ".join(self.text.split())
        if tag == "title":
            self.title = text
        elif tag in ("h1", "h2", "h3", "h4"):
            self.headings.append(text)
        elif "line" in kinds:
            self.text += "\n"
        elif "fragment" in kinds:
            self.code.append(self.text.rstrip("\n"))


def slug(path):
    """As the pages are named: chapters/05-queue-pair/README.md is chapters-05-queue-pair."""
    path = re.sub(r"(^|/)README\.md$", "", path)
    return (re.sub(r"[^a-z0-9]+", "-", path.removesuffix(".md").lower()).strip("-") or "index") + ".html"


def markdown(path):
    """Title and headings, blocks of code, rows of tables, details."""
    headings, blocks, rows, details, images, fence = [], [], 0, 0, 0, None
    text = re.sub(r"<!--.*?-->", "", open(path, encoding="utf-8").read(), flags=re.S)
    for line in text.splitlines():
        if fence is not None:
            if line.strip().startswith("```"):
                blocks.append((fence, "\n".join(body)))
                fence = None
            else:
                body.append(line)
        elif match := re.match(r" *```(\w*)", line):
            fence, body = match[1], []
        elif match := re.match(r"#+ (.*)", line):
            headings.append(match[1])
        else:
            rows += line.startswith("|") and not re.fullmatch(r"\|[|: -]*-[|: -]*", line)
            details += line.startswith("<details>")
            images += len(re.findall(r"!\[", re.sub(r"`[^`]*`", "", line)))
    return headings, blocks, rows, details, images


def bare(heading):
    return " ".join(re.sub(r"[`*\\]|\]\([^)]*\)|\[(?=[^\]]*\]\()", "", heading).split())


sites = {}
for language in ("en", "zh"):
    folder = f"{out}/{language}"
    sites[language] = {os.path.basename(path): Html(path) for path in glob.glob(f"{folder}/*.html")}
    for name, page in sites[language].items():
        text = open(page.path, encoding="utf-8").read()
        for token in re.findall(r"@SITE_|\\endhtmlonly|\\htmlonly|md_build|\0", text):
            wrong.append(f"{page.path}: {token} was left")
        if os.getcwd() in text or out in text:
            wrong.append(f"{page.path}: names a folder of this machine")
        if page.lang != {"en": "en", "zh": "zh-CN"}[language]:
            wrong.append(f"{page.path}: lang={page.lang}")
        for load in page.loads:
            if "://" in load or not os.path.exists(os.path.join(folder, load)):
                wrong.append(f"{page.path}: {load} is not there")
        if not page.twin or not os.path.exists(os.path.join(folder, page.twin)):
            wrong.append(f"{page.path}: no link to the other language")

count = 0
for language, site in sites.items():
    for name, page in site.items():
        for link in page.links:
            count += 1
            address, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:", address):
                continue
            target = os.path.normpath(os.path.join(out, language, address)) if address else page.path
            other = sites.get(os.path.basename(os.path.dirname(target)), {}).get(os.path.basename(target))
            if other is None:
                wrong.append(f"{page.path}: {link} is not there")
            elif anchor and urllib.parse.unquote(anchor) not in other.ids:
                wrong.append(f"{page.path}: {link}: no such anchor")

# Every page of the repository, in both, with all that it has.
pages = [path for pattern in ("README.md", "chapters/*/README.md", "labs/*/README.md", "docs/**/*.md")
         for path in glob.glob(pattern, recursive=True)
         if not path.endswith(".zh-CN.md") and not path.startswith("docs/site/")]
for path in pages:
    for language in ("en", "zh"):
        twin = path.removesuffix(".md") + ".zh-CN.md"
        translated = language == "zh" and os.path.exists(twin)
        source = twin if translated else path
        page = sites[language].get(slug(path))
        if page is None:
            wrong.append(f"{source} is not in the site")
            continue
        headings, blocks, rows, details, images = markdown(source)
        if page.title != f"{bare(headings[0])} | rdma-lab":
            wrong.append(f"{page.path}: the title is {page.title}")
        if page.headings != [bare(heading) for heading in headings]:
            wrong.append(f"{page.path}: the headings of {source} are {headings}, those of the page {page.headings}")
        shown = [" ".join(text.split()) for text in page.code]
        expected = [" ".join(text.split()) for _, text in blocks]
        for text in expected:
            if text not in shown:
                wrong.append(f"{page.path}: this code of {source} is not there as it is: {text[:200]}")
        words = any(kind == "cpp" and re.search(r"^ *(const|constexpr|int|if|return) ", text, re.M) for kind, text in blocks)
        if words and not page.spans & {"keyword", "keywordtype", "keywordflow"}:
            wrong.append(f"{page.path}: the code has no colours")
        if (page.rows, page.details, page.images) != (rows, details, images):
            wrong.append(f"{page.path}: rows, details, images: {page.rows, page.details, page.images}, not {rows, details, images}")
        text = open(page.path, encoding="utf-8").read()
        if ('class="notice"' in text) != (language == "zh" and not translated and path != "docs/glossary.md"):
            wrong.append(f"{page.path}: whether the page is there in Chinese is not said, or said wrongly")
        if page.twin != f"../{'zh' if language == 'en' else 'en'}/{slug(path)}":
            wrong.append(f"{page.path}: the other language is at {page.twin}")
        navigation = text[text.index('<nav class="site"'):text.index("</nav>")]
        for other in pages:
            if f'href="{slug(other)}"' not in navigation:
                wrong.append(f"{page.path}: {other} is not in the navigation")

# From page to page with "next": each once, and back again.
for language, site in sites.items():
    name, seen = "index.html", []
    while name:
        seen.append(name)
        after = site[name].rel.get("next")
        if after in seen:
            wrong.append(f"{language}: next of {name} is {after}, which was there before")
            break
        if after and site[after].rel.get("prev") != name:
            wrong.append(f"{language}: prev of {after} is not {name}")
        name = after
    if sorted(seen) != sorted(slug(path) for path in pages):
        wrong.append(f"{language}: next leads to {seen}")
    chapters = [name for name in seen if name.startswith("chapters-")]
    if chapters != sorted(chapters) or not seen[1:1 + len(chapters)] == chapters:
        wrong.append(f"{language}: the chapters are not in order: {seen}")

for text in wrong:
    print(text)
print(f"{len(pages)} pages, {sum(map(len, sites.values()))} files, {count} links")
sys.exit(bool(wrong))
