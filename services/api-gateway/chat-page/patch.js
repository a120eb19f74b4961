/** Updates only what has changed, so selections are preserved and nothing flickers. */

/**
 * Makes the children of `target` equal to those of `source`.
 * @param {Node} target
 * @param {Node} source
 */
export function patch(target, source) {
  const wanted = [...source.childNodes];
  for (const [index, next] of wanted.entries()) {
    const shown = target.childNodes[index];
    if (shown === undefined) target.appendChild(next);
    else if (shown instanceof Text && next instanceof Text) patchText(shown, next.data);
    else if (shown instanceof Element && next instanceof Element && isSameTag(shown, next)) patch(shown, next);
    else target.replaceChild(next, shown);
  }
  while (target.childNodes.length > wanted.length) target.lastChild?.remove();
}

/**
 * @param {Text} shown
 * @param {string} text
 */
function patchText(shown, text) {
  if (text.startsWith(shown.data)) shown.appendData(text.slice(shown.data.length));
  else shown.data = text;
}

/**
 * @param {Element} left
 * @param {Element} right
 */
function isSameTag(left, right) {
  return left.cloneNode(false).isEqualNode(right.cloneNode(false));
}
