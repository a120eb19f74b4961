/** Validates an update of a holon and describes its changes (rules/holons#update-a-holon; D46a). */
import countries from 'i18n-iso-countries/index.js'; // This entry point omits the country names in eighty languages.
import { badRequest } from '#libs/infrastructure/errors';
import type { JsonObject } from '#libs/infrastructure/json';
import { isBlank } from '#libs/infrastructure/text';
import type { InfosChange } from '../classes/index.ts';
import { findLinkProblem, findSlugProblem, requireRichText } from '../texts/index.ts';
import type { HolonUpdate } from './contract.ts';

/** Values of a holon that an update can change. */
export interface HolonState {
  readonly name: string;
  readonly slug: string;
  readonly parent_id: number | null;
  readonly description: string;
  readonly links: JsonObject;
  readonly infos: JsonObject;
  readonly journey_ids: readonly number[];
}

/** Fields that are validated without the database. Absent fields remain unchanged. */
export interface CheckedFields {
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly links: Readonly<Record<string, string>> | undefined;
  readonly locations: readonly string[] | undefined;
}

/** Validates the fields of an update. @throws AppError 400 that names the field */
export function checkHolonFields(update: Omit<HolonUpdate, 'slug'>, nameReadOnly: boolean): CheckedFields {
  return {
    name: update.name === undefined ? undefined : checkName(update.name, nameReadOnly),
    description: update.description === undefined ? undefined : requireRichText('description', update.description),
    links: update.links === undefined ? undefined : checkLinks(update.links as Record<string, string>),
    locations: update.locations === undefined ? undefined : checkCountries(update.locations),
  };
}

export function checkName(given: string, isReadOnly: boolean): string {
  if (isReadOnly) throw badRequest('name: the class of the holon marks it as read-only.');
  const name = given.trim();
  if (isBlank(name)) throw badRequest('name must not be blank.');
  return name;
}

/** @throws AppError 400 */
export function checkSlug(slug: string): void {
  const problem = findSlugProblem(slug);
  if (problem !== undefined) throw badRequest(`slug ${problem}.`);
}

/** Returns the links trimmed, without blank values. */
function checkLinks(given: Readonly<Record<string, string>>): Record<string, string> {
  const links = Object.entries(given).map(([channel, value]): [string, string] => [channel, value.trim()]);
  const filled = links.filter(([, value]) => value !== '');
  for (const [channel, value] of filled) {
    const problem = findLinkProblem(value);
    if (problem !== undefined) throw badRequest(`links.${channel} ${problem}.`);
  }
  return Object.fromEntries(filled);
}

function checkCountries(given: readonly string[]): string[] {
  const codes = given.map((code) => {
    const known = findCountryCode(code);
    if (known === undefined)
      throw badRequest(`locations: "${code.slice(0, 20)}" is not an ISO 3166-1 alpha-2 country code.`);
    return known;
  });
  return [...new Set(codes)];
}

/**
 * Combines locations, spheres and info fields into one change of the stored infos. An empty list without a stored value
 * is not a change.
 */
export function mergeInfos(
  stored: JsonObject,
  fields: InfosChange,
  lists: { readonly locations: readonly string[] | undefined; readonly spheres: readonly number[] | undefined },
): InfosChange {
  const given = [...Object.entries(fields.set), ...Object.entries(lists).filter(([, list]) => list !== undefined)];
  const set = given.filter(([key, value]) => !isEmptyList(value) || Object.hasOwn(stored, key));
  return { set: Object.fromEntries(set), remove: fields.remove };
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

export interface FieldChange {
  readonly old: unknown;
  readonly new: unknown;
}

/** Returns the changed fields under the names of the request. @param infoKeys keys of `info_fields` in the request */
export function describeChanges(
  before: HolonState,
  after: HolonState,
  infoKeys: readonly string[],
): Record<string, FieldChange> {
  const changed = infoKeys.filter((key) => !isSame(before.infos[key], after.infos[key]));
  const fields: Readonly<Record<string, (state: HolonState) => unknown>> = {
    name: (state) => state.name,
    slug: (state) => state.slug,
    parent_id: (state) => state.parent_id,
    description: (state) => state.description,
    links: (state) => state.links,
    locations: (state) => state.infos['locations'] ?? [],
    spheres: (state) => state.infos['spheres'] ?? [],
    info_fields: (state) => pick(state.infos, changed),
    journey_ids: (state) => state.journey_ids,
  };
  const changes = Object.entries(fields).map(([name, read]): [string, FieldChange] => [
    name,
    { old: read(before), new: read(after) },
  ]);
  return Object.fromEntries(changes.filter(([, change]) => !isSame(change.old, change.new)));
}

function pick(infos: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(infos, key)).map((key) => [key, infos[key]]));
}

/** Whether two JSON texts are equal. Both are from PostgreSQL, which serializes equal documents identically. */
function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

const codes: ReadonlySet<string> = new Set(Object.keys(countries.getAlpha2Codes()));

/** Returns the country code in upper case. Returns undefined for unknown countries and three-letter codes. */
export function findCountryCode(given: string): string | undefined {
  const code = given.toUpperCase();
  return /^[A-Za-z]{2}$/.test(given) && codes.has(code) ? code : undefined;
}
