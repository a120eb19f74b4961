/** Updates only what has changed, so selections are preserved and nothing flickers. */

/**
 * Makes the children of `target` equal to those of `source`.
 * @param {Node} target
 * @param {Node} source
 */
export function patch(target, source) {
  const expected = [...source.childNodes];
  for (const [index, next] of expected.entries()) {
    const current = target.childNodes[index];
    if (current === undefined) target.appendChild(next);
    else if (current instanceof Text && next instanceof Text) patchText(current, next.data);
    else if (current instanceof Element && next instanceof Element && isSameTag(current, next)) patch(current, next);
    else target.replaceChild(next, current);
  }
  while (target.childNodes.length > expected.length) target.lastChild?.remove();
}

/**
 * @param {Text} current
 * @param {string} text
 */
function patchText(current, text) {
  if (text.startsWith(current.data)) current.appendData(text.slice(current.data.length));
  else current.data = text;
}

/**
 * @param {Element} left
 * @param {Element} right
 */
function isSameTag(left, right) {
  return left.cloneNode(false).isEqualNode(right.cloneNode(false));
}
