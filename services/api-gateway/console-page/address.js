/**
 * The URL determines what is shown, filters included, so it can be bookmarked, shared and used with the back button.
 */
import { createShared, html, useEffect, useRef } from './ui.js';

export const root = '/console';

const here = createShared(location.href);
addEventListener('popstate', ({ state }) => {
  here.write(location.href);
  if (typeof state?.y === 'number') returnTo(state.y);
});

/** @returns {{ path: string, query: URLSearchParams, href: string }} path below the root, without a trailing slash */
export function useAddress() {
  const url = new URL(here.use());
  return { path: url.pathname.slice(root.length).replace(/\/$/, ''), query: url.searchParams, href: url.href };
}

/** @param {string} href */
export function go(href) {
  if (new URL(href, location.href).href === location.href) return;
  history.replaceState({ y: scrollY }, '');
  history.pushState(null, '', href);
  here.write(location.href);
  scrollTo(0, 0);
}

/** Restores the previous scroll position once the list is rendered; the browser tries it earlier. @param {number} y */
function returnTo(y) {
  const watch = new ResizeObserver(() => {
    if (document.documentElement.scrollHeight < y + innerHeight / 2) return;
    watch.disconnect();
    scrollTo(0, y);
  });
  watch.observe(document.body);
  for (const act of ['wheel', 'touchstart', 'pointerdown', 'keydown', 'popstate'])
    addEventListener(act, () => watch.disconnect(), { once: true });
}

/**
 * Returns the URL of the current page with other filters, at the first page of the list.
 * @param {URLSearchParams} query
 * @param {Readonly<Record<string, string | undefined>>} changes
 */
export function withQuery(query, changes) {
  const next = new URLSearchParams(query);
  next.delete('cursor');
  next.delete('offset');
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.delete(name);
    else next.set(name, value);
  }
  return `${location.pathname}${next.size === 0 ? '' : `?${next}`}`;
}

/**
 * A link within the console: navigates without loading a page, and otherwise behaves like every link.
 * @param {{ href: string, children?: import('./ui.js').Children } & Record<string, unknown>} properties
 */
export function Link({ href, children, ...rest }) {
  /** @param {MouseEvent} event */
  const follow = (event) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(href);
  };
  return html`<a href=${href} onClick=${follow} ...${rest}>${children}</a>`;
}

/**
 * The heading of a page; gets the focus after navigation within the console.
 * @param {{ title: string, children?: import('./ui.js').Children }} properties
 */
export function Heading({ title, children }) {
  const heading = /** @type {{ current: HTMLElement | null }} */ (useRef(null));
  const { query } = useAddress();
  useEffect(() => {
    document.title = `${title} · Coherence console`;
  }, [title]);
  // Focuses the heading of a new page, but not when the title arrives later with the data: the user may have moved the
  // focus.
  useEffect(() => {
    if (isSettled) heading.current?.focus({ preventScroll: true });
    isSettled = true;
  }, [query.get('cursor'), query.get('offset')]);
  // Focuses the heading when the focused element was removed. Otherwise the keyboard focus would start at the top of
  // the document, and screen readers would announce nothing.
  useEffect(() => {
    if (isFocusLost()) heading.current?.focus({ preventScroll: true });
  });
  return html`<div class="heading">
    <h1 ref=${heading} tabindex="-1">${title}</h1>
    ${children}
  </div>`;
}

/** Element that had the focus last, until the focus moves elsewhere. @type {Element | undefined} */
let focused;
addEventListener('focusin', ({ target }) => (focused = target instanceof Element ? target : undefined));
addEventListener('focusout', ({ target }) => {
  // Browsers can send `focusout` for removed elements, too.
  queueMicrotask(() => {
    if (focused === target && focused?.isConnected) focused = undefined;
  });
});

/** Returns whether the focused element was removed. */
function isFocusLost() {
  return focused !== undefined && !focused.isConnected && document.activeElement === document.body;
}

/** False until the first page of this tab is shown: the browser sets its initial focus. */
let isSettled = false;
