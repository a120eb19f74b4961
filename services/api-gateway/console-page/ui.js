/** Exports the UI library under the names that our modules use. */
import htm from 'htm';
import { h, render } from 'preact';
import { useCallback, useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** @typedef {import('preact').ComponentChildren} Children */
/** @typedef {import('preact').VNode<any> | import('preact').VNode<any>[]} View */

/** @type {(strings: TemplateStringsArray, ...values: any[]) => View} */
export const html = /** @type {any} */ (htm).bind(h);
export { render, useCallback, useEffect, useId, useLayoutEffect, useRef, useState };

/**
 * Creates a value that several components observe.
 * @template T
 * @param {T} initial
 */
export function createShared(initial) {
  let value = initial;
  /** @type {Set<(value: T) => void>} */
  const watchers = new Set();
  return {
    read: () => value,
    /** @param {T} next */
    write: (next) => {
      value = next;
      for (const watcher of watchers) watcher(next);
    },
    /** Returns the value; the calling component is rendered again when it changes. */
    use: () => {
      const [seen, setSeen] = useState(value);
      useLayoutEffect(() => {
        setSeen(value);
        watchers.add(setSeen);
        return () => void watchers.delete(setSeen);
      }, []);
      return seen;
    },
  };
}
