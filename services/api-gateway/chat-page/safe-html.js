/**
 * The output of the server's renderer is checked again: only these elements and attributes reach the page. Everything
 * else is shown as text.
 */
const allowedElements = new Set(['A', 'B', 'STRONG', 'I', 'EM', 'U', 'S', 'DEL', 'CODE', 'PRE', 'BLOCKQUOTE', 'BR']);
/** Elements whose content is not shown. */
const droppedElements = new Set([
  'SCRIPT',
  'STYLE',
  'TEMPLATE',
  'IFRAME',
  'OBJECT',
  'SVG',
  'MATH',
  'NOSCRIPT',
  'TITLE',
]);
const linkSchemes = new Set(['https:', 'http:', 'mailto:', 'tg:']);

/**
 * Returns the allowed elements of the HTML. The document in which it is parsed neither runs scripts nor loads files.
 * @param {string} html
 * @returns {DocumentFragment}
 */
export function toSafeFragment(html) {
  const fragment = document.createDocumentFragment();
  copyChildren(new DOMParser().parseFromString(html, 'text/html').body, fragment);
  return fragment;
}

/**
 * @param {Node} source
 * @param {Node} target
 */
function copyChildren(source, target) {
  for (const child of source.childNodes) {
    if (child instanceof Text) target.appendChild(document.createTextNode(child.data));
    else if (child instanceof Element) copyElement(child, target);
  }
}

/**
 * @param {Element} source
 * @param {Node} target
 */
function copyElement(source, target) {
  const name = source.tagName.toUpperCase();
  if (droppedElements.has(name)) return;
  const href = name === 'A' ? checkLink(source.getAttribute('href')) : undefined;
  if (!allowedElements.has(name) || (name === 'A' && href === undefined)) {
    copyChildren(source, target);
    return;
  }
  const copy = document.createElement(name);
  if (copy instanceof HTMLAnchorElement && href !== undefined) {
    copy.href = href;
    copy.target = '_blank';
    copy.rel = 'noopener noreferrer nofollow';
  }
  copyChildren(source, copy);
  target.appendChild(copy);
}

/**
 * @param {string | null} href
 * @returns {string | undefined}
 */
function checkLink(href) {
  return href !== null && URL.canParse(href) && linkSchemes.has(new URL(href).protocol) ? href : undefined;
}
