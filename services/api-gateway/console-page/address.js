/** The address says what is shown, filters included: it can be kept, sent and gone back to. */
import { createShared, html, useEffect, useRef } from './ui.js';

export const root = '/console';

const here = createShared(location.href);
addEventListener('popstate', ({ state }) => {
  here.write(location.href);
  if (typeof state?.y === 'number') returnTo(state.y);
});

/** @returns {{ path: string, query: URLSearchParams, href: string }} path below the root, without a slash at its end */
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

/** Where the reader was before they went on: the browser looks for that place before the list is there again. @param {number} y */
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
 * The same page with other filters; a filter that changes leads back to the first page.
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
 * A link within the console: no page is loaded, but everything else that a link can do it does.
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
 * The heading of a page; who comes from another page of the console, or of the list, begins to read here.
 * @param {{ title: string, children?: import('./ui.js').Children }} properties
 */
export function Heading({ title, children }) {
  const heading = /** @type {{ current: HTMLElement | null }} */ (useRef(null));
  const { query } = useAddress();
  useEffect(() => {
    document.title = `${title} · Coherence console`;
  }, [title]);
  // Not when the title comes later, with what was asked for: who has gone on meanwhile stays there.
  useEffect(() => {
    if (isSettled) heading.current?.focus({ preventScroll: true });
    isSettled = true;
  }, [query.get('cursor'), query.get('offset')]);
  // Else the keyboard begins at the top of the document, and a screen reader says nothing.
  useEffect(() => {
    if (isFocusLost()) heading.current?.focus({ preventScroll: true });
  });
  return html`<div class="heading">
    <h1 ref=${heading} tabindex="-1">${title}</h1>
    ${children}
  </div>`;
}

/** What had the focus last, until the reader leaves it. @type {Element | undefined} */
let focused;
addEventListener('focusin', ({ target }) => (focused = target instanceof Element ? target : undefined));
addEventListener('focusout', ({ target }) => {
  // Of what is taken away the browser may say so too.
  queueMicrotask(() => {
    if (focused === target && focused?.isConnected) focused = undefined;
  });
});

/** Whether what had the focus was taken away. */
function isFocusLost() {
  return focused !== undefined && !focused.isConnected && document.activeElement === document.body;
}

/** False until the first page of this tab is shown: there the browser says where to begin. */
let isSettled = false;
