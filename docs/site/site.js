// Full-text search without a server: every section of the site is in search-index.js, which is loaded when somebody searches.
'use strict';

{
  const field = document.getElementById('search');
  const list = document.getElementById('found');
  let loading = false;

  const load = () => {
    if (loading) return;
    loading = true;
    const script = document.createElement('script'); // a page that was opened from a file may not fetch
    script.src = 'search-index.js';
    script.onload = search;
    document.head.append(script);
  };

  // An entry must have all the words, anywhere. What has them in a title comes first.
  const points = (entry, words) => {
    const [address, page, section, text] = entry.lower;
    let sum = 0;
    for (const word of words) {
      if (section.includes(word)) sum += section === word ? 40 : 12;
      else if (page.includes(word)) sum += page === word ? 40 : 8;
      else if (text.includes(word)) sum += 1;
      else return 0;
    }
    const file = address.startsWith('source-') || address.endsWith('_source.html');
    return file ? sum / 4 : sum + (section ? 0 : 6);
  };

  const snippet = (text, lower, words) => {
    const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
    const start = Math.max(0, Math.min(...places, text.length) - 40);
    return (start > 0 ? '…' : '') + text.slice(start, start + 140);
  };

  const search = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    list.hidden = words.length === 0;
    if (list.hidden || typeof siteIndex === 'undefined') return;
    const hits = [];
    for (const entry of siteIndex) {
      entry.lower ??= entry.map((part) => part.toLowerCase());
      const sum = points(entry, words);
      if (sum > 0) hits.push([sum, entry]);
    }
    hits.sort((a, b) => b[0] - a[0]);
    const shown = {}; // of one page three sections at most, so that others are seen as well
    const best = hits.filter(([, [, page]]) => (shown[page] = (shown[page] ?? 0) + 1) <= 3);
    list.replaceChildren(...best.slice(0, 30).map(([, entry]) => {
      const [address, page, section, text] = entry;
      const link = document.createElement('a');
      link.href = address;
      const title = document.createElement('b');
      title.textContent = section ? `${page} › ${section}` : page;
      const part = document.createElement('span');
      part.textContent = snippet(text, entry.lower[3], words);
      link.append(title, part);
      return link;
    }));
    if (hits.length === 0) list.textContent = field.dataset.none;
  };

  const close = () => { list.hidden = true; };

  field.addEventListener('focus', load);
  field.addEventListener('input', () => { load(); search(); });
  field.addEventListener('keydown', (event) => {
    const first = list.querySelector('a');
    if (event.key === 'Escape') close();
    if (event.key === 'Enter' && first) first.click();
    if (event.key === 'ArrowDown' && first) { event.preventDefault(); first.focus(); }
  });
  list.addEventListener('keydown', (event) => {
    const next = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' }[event.key];
    if (event.key === 'Escape') { close(); field.focus(); }
    if (!next) return;
    event.preventDefault();
    (document.activeElement[next] ?? field).focus();
  });
  list.addEventListener('click', close);
  document.addEventListener('click', (event) => { if (!event.target.closest('#found, #search')) close(); });
}

// The navigation may be longer than the window: the page's own line shall be seen.
{
  const navigation = document.querySelector('nav.site');
  const here = navigation.querySelector('[aria-current]');
  if (here && here.offsetTop > navigation.clientHeight / 2) navigation.scrollTop = here.offsetTop - navigation.clientHeight / 3;
  // On a narrow screen it covers the page, and goes when one of its lines was chosen.
  navigation.addEventListener('click', (event) => { if (event.target.closest('a')) document.getElementById('menu').checked = false; });
}

// A button at each block of code takes it over, without the numbers of its lines; of a run only the commands.
if (navigator.clipboard) {
  const code = (block) => {
    const commands = [...block.querySelectorAll('.prompt + b')];
    const lines = [...block.querySelectorAll('.line')];
    if (commands.length) return commands.map((command) => command.textContent).join('\n') + '\n';
    if (!lines.length) return block.textContent;
    return lines.map((line) => {
      const copy = line.cloneNode(true);
      copy.querySelectorAll('.lineno').forEach((number) => number.remove());
      return copy.textContent.trimEnd() + '\n'; // doxygen has a blank in an empty line
    }).join('');
  };
  for (const block of document.querySelectorAll('.textblock .fragment')) {
    const frame = document.createElement('div');
    const button = document.createElement('button');
    frame.className = 'copy';
    button.textContent = document.body.dataset.copy;
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(code(block));
      button.textContent = '✓';
      setTimeout(() => { button.textContent = document.body.dataset.copy; }, 1500);
    });
    block.replaceWith(frame);
    frame.append(block, button);
  }
}
