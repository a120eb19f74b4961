/**
 * Derives the list that a caller sees from the list that the editor sees: the policy (D41, D46a, D48) applied to JSON.
 */
import { type Caller, edits, sees, type Slug, tree } from './network.ts';

type Json = Record<string, unknown>;

/** Fields of a holon that only its editors see (W2). */
const editorFields = ['info_fields', 'locations', 'spheres', 'journey_ids'];

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isSlug = (value: unknown): value is Slug => typeof value === 'string' && value in tree;

/** Returns the text of a note. It names the note's holons, because the JSON of a note does not. */
export const noteAbout = (holons: readonly string[]): string => `Note about ${holons.join(' and ')}`;

/** Returns the holons that an item shows or belongs to. */
function holonsOf(item: Json): Slug[] {
  const { slug, holon, from_holon: from, to_holon: to, body } = item;
  const named = [slug, ...[holon, from, to].map((place) => (isObject(place) ? place['slug'] : undefined))];
  const noted = typeof body === 'string' ? body.replace('Note about ', '').split(' and ') : [];
  return [...named, ...noted].filter(isSlug);
}

/** Returns the body of a list or single holon without what the caller cannot see. */
export function project(value: unknown, caller: Caller): unknown {
  if (!isObject(value) || !Array.isArray(value['items'])) return hideParents(value, caller);
  const items = (value['items'] as Json[]).filter((item) => holonsOf(item).every((slug) => sees(caller, slug)));
  return { ...value, count: items.length, items: items.map((item) => hideParents(item, caller)) };
}

/** Returns the empty list of children for callers without access to the parent holon. */
export const withoutItems = (value: Json): Json => ({ ...value, count: 0, has_more: false, items: [] });

function hideParents(value: unknown, caller: Caller): unknown {
  if (Array.isArray(value)) return value.map((item) => hideParents(item, caller));
  if (!isObject(value)) return value;
  const shown = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, hideParents(inner, caller)]));
  if (!('parent_id' in value) || !isSlug(value['slug'])) return shown;
  if (!edits(caller, value['slug'])) for (const name of editorFields) delete shown[name];
  const parent = tree[value['slug']][1];
  return parent === null || sees(caller, parent) ? shown : { ...shown, parent_id: null };
}
