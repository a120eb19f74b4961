/** Rows as items of the workspace file: what the file leaves out, and names in the place of secrets. */
import { nameSecrets } from '#libs/config';
import { isJsonObject, type JsonObject } from '#libs/json';
import type { ListName } from './vocabulary.ts';

/** @param variables names of secrets; those of the item are added */
export function toFileItem(list: ListName, row: JsonObject, variables: Set<string>): JsonObject {
  const item = withoutNulls(row);
  // A new membership without a step begins at the first one.
  if ('journey' in item && !('step' in item)) item['step'] = null;
  if (list === 'journeys' && Array.isArray(item['steps'])) {
    const nameOf = (step: JsonObject): string => `steps_${String(item['slug'])}_${String(step['slug'])}`;
    item['steps'] = (item['steps'] as JsonObject[]).map((step) => ({
      ...withoutNulls(step),
      config: nameSecrets(withoutNulls(step['config'] as JsonObject), nameOf(step), variables),
    }));
  }
  return item;
}

/** What is null is not there; to the file, a null in an object means to take the field away (RFC 7396). Lists stay as they are. */
function withoutNulls(value: JsonObject): JsonObject {
  const entries = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(entries.map(([key, item]) => [key, isJsonObject(item) ? withoutNulls(item) : item]));
}
