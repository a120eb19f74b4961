/** Configuration that clients send: merged per key, with stored secrets in place of `{set: true}` (W16). */
import { isSecretName, maskSecrets } from '#libs/infrastructure/config';
import { badRequest } from '#libs/infrastructure/errors';
import { isJsonObject, type JsonObject, mergePatch } from '#libs/infrastructure/json';

/**
 * Merges a patch into stored configuration (RFC 7396). @throws AppError 400 for `{env: NAME}`, and for `{set: true}`
 * where no secret is stored
 */
export function mergeConfig(stored: JsonObject, patch: JsonObject): JsonObject {
  return mergePatch(stored, restoreSecrets(patch, stored, 'config')) as JsonObject;
}

function restoreSecrets(sent: unknown, stored: unknown, path: string): unknown {
  if (Array.isArray(sent)) return sent.map((item, index) => restoreItem(item, stored, `${path}.${index}`));
  if (!isJsonObject(sent)) return sent;
  if (isOnly(sent, 'env') && typeof sent['env'] === 'string')
    throw badRequest(`${path}: {env: NAME} is for workspace files. Send the value.`);
  const known = isJsonObject(stored) ? stored : {};
  return Object.fromEntries(
    Object.entries(sent).map(([key, value]) => {
      const below = `${path}.${key}`;
      if (!isSecretName(key) || !isMask(value)) return [key, restoreSecrets(value, ownValue(known, key), below)];
      const secret = ownValue(known, key);
      if (typeof secret !== 'string' || secret === '')
        throw badRequest(`${below}: no value is stored, so that {"set": true} cannot keep it. Send the value.`);
      return [key, secret];
    }),
  );
}

/** An item of a list keeps its secrets if the stored list has an item that is equal apart from them. */
function restoreItem(item: unknown, stored: unknown, path: string): unknown {
  const text = JSON.stringify(item);
  const equal = Array.isArray(stored)
    ? (stored as unknown[]).find((other) => JSON.stringify(maskSecrets(other)) === text)
    : undefined;
  return restoreSecrets(item, equal, path);
}

const ownValue = (object: JsonObject, key: string): unknown => (Object.hasOwn(object, key) ? object[key] : undefined);
const isOnly = (object: JsonObject, key: string): boolean =>
  Object.keys(object).length === 1 && Object.hasOwn(object, key);
const isMask = (value: unknown): boolean => isJsonObject(value) && isOnly(value, 'set') && value['set'] === true;
