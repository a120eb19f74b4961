/** Links, contact values and addresses of a workspace document (D72), by the rules that hold for the API. */
import { isJsonObject, type JsonObject } from '#libs/json';
import { isSingleLine } from '#libs/text';
import { maxChannelLength } from '../../fields.ts';
import type { InfoField } from '../../info-fields.ts';
import { findContactProblem, findLinkProblem, maxAddressLength, tooLongAddress, webAddressProblem } from '../../links.ts';
import type { Path, Problem } from './problem.ts';

export const controls = 'must have no control characters';

/** Everything that is wrong with the values of channels, or with the link among the texts of a journey. null takes a value away. */
export function listAddressProblems(kind: 'links' | 'contact' | 'journey_texts', given: JsonObject, path: Path): Problem[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const at = [...path, name];
    const nameProblem = name.length > maxChannelLength ? `has a name of more than ${maxChannelLength} characters` : undefined;
    if (nameProblem !== undefined || !isSingleLine(name)) return [{ path: at, message: nameProblem ?? controls }];
    if (kind === 'journey_texts' && name !== 'goodbyeURL') return [];
    if (kind === 'links' && value !== null && typeof value !== 'string') return [{ path: at, message: 'must be text' }];
    return listTexts(value, at).flatMap(({ text, path: place }) => {
      const find = kind === 'links' ? findLinkProblem : findContactProblem;
      const message = text.length > maxAddressLength ? tooLongAddress : text.trim() === '' ? undefined : find(text.trim());
      return message === undefined ? [] : [{ path: place, message }];
    });
  });
}

/** Words of a slide that are shown and not followed. */
const captions: ReadonlySet<unknown> = new Set(['title', 'caption', 'alt', 'text', 'description', 'label']);

/** What is wrong with the values of a class's fields that are followed as addresses; of other fields nothing is known. */
export function listFieldProblems(fields: ReadonlyMap<string, InfoField>, infos: JsonObject, path: Path): Problem[] {
  return Object.entries(infos).flatMap(([key, value]) => {
    const type = fields.get(key)?.type;
    const at = [...path, key];
    if (value === null || (type !== 'url' && type !== 'video' && type !== 'slideshow')) return [];
    if (type !== 'slideshow') {
      const message = typeof value === 'string' ? webAddressProblem(value.trim()) : 'must be an http or https address';
      return message === undefined ? [] : [{ path: at, message }];
    }
    return listTexts(value, at).flatMap(({ text, path: place }) => {
      const message = captions.has(place.at(-1)) ? undefined : findContactProblem(text.trim());
      return message === undefined ? [] : [{ path: place, message }];
    });
  });
}

function listTexts(value: unknown, path: Path): { text: string; path: (string | number)[] }[] {
  if (typeof value === 'string') return [{ text: value, path: [...path] }];
  if (Array.isArray(value)) return value.flatMap((item, index) => listTexts(item, [...path, index]));
  return isJsonObject(value) ? Object.entries(value).flatMap(([key, item]) => listTexts(item, [...path, key])) : [];
}
