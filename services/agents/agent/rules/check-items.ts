/** Validates the `agents` list of a workspace file (rules/workspace#workspace-file; D33e, D64). */
import { isPublicSecret, minSecretLength } from '#libs/infrastructure/config';
import type { Static } from '#libs/infrastructure/contract';
import { findJsonProblem, isJsonObject } from '#libs/infrastructure/json';
import { compileSchemaForAll } from '#libs/infrastructure/schema';
import { isBlank } from '#libs/infrastructure/text';
import { AgentItem } from '../contract.ts';

export type Item = Static<typeof AgentItem>;

export interface Problem {
  path: (string | number)[];
  message: string;
}

/**
 * Returns a check that lists every problem of an `agents` list. @param allowUnsigned accept bots without a webhook
 * secret (D64)
 */
export function createAgentCheck(allowUnsigned: boolean): (items: readonly unknown[]) => Problem[] {
  const checkItem = compileSchemaForAll(AgentItem);
  return (items) => [
    ...items.flatMap((item, index) => findProblems(checkItem, item, index, allowUnsigned)),
    ...findRepeatedSlugs(items),
  ];
}

function findProblems(
  checkItem: ReturnType<typeof compileSchemaForAll>,
  item: unknown,
  index: number,
  allowUnsigned: boolean,
): Problem[] {
  const json = findJsonProblem(item);
  if (json !== undefined) return [{ path: [index, ...json.path], message: jsonMessages[json.kind] }];
  const broken = checkItem(item).map(({ path, keyword, params, message }) => {
    const property = keyword === 'additionalProperties' ? String(params['additionalProperty']) : undefined;
    return property === undefined
      ? { path: [index, ...path], message }
      : { path: [index, ...path, property], message: 'is not a field of an agent' };
  });
  if (broken.length > 0) return broken;
  if (isBlank((item as Item).name)) return [{ path: [index, 'name'], message: 'must not be blank' }];
  return findMessagingProblems(item as Item, index, allowUnsigned);
}

/** Reports messaging settings that are not strings, and a bot without a secret that is hard to guess (D64). */
function findMessagingProblems(item: Item, index: number, allowUnsigned: boolean): Problem[] {
  const messaging = item.config?.['messaging'];
  if (messaging === undefined || messaging === null) return [];
  if (!isJsonObject(messaging)) return [{ path: [index, 'config', 'messaging'], message: 'must be an object' }];
  const problems = ['bot_token', 'webhook_secret', 'echo_channel']
    .filter((key) => messaging[key] !== undefined && messaging[key] !== null && typeof messaging[key] !== 'string')
    .map((key) => ({ path: [index, 'config', 'messaging', key], message: 'must be a string' }));
  for (const key of ['bot_token', 'webhook_secret']) {
    const text = messaging[key];
    if (typeof text === 'string' && text !== '' && isBlank(text))
      problems.push({ path: [index, 'config', 'messaging', key], message: 'must not be blank; use null to remove it' });
  }
  const { bot_token: token, webhook_secret: secret } = messaging as {
    bot_token?: string | null;
    webhook_secret?: string | null;
  };
  if (problems.length > 0 || allowUnsigned || (token ?? '') === '' || isAcceptableSecret(secret ?? '')) return problems;
  return [{ path: [index, 'config', 'messaging', 'webhook_secret'], message: secretMessage }];
}

/** Whether Telegram accepts the secret and it is as strong as the other secrets. */
function isAcceptableSecret(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,256}$/.test(text) && text.length >= minSecretLength && !isPublicSecret(text);
}
const secretMessage =
  `must be ${minSecretLength} to 256 of A-Z a-z 0-9 _ - if bot_token is set; otherwise anyone can send updates to the bot. Create one with ` +
  '`openssl rand -hex 24`, or set ALLOW_UNSIGNED_WEBHOOKS=true.';

function findRepeatedSlugs(items: readonly unknown[]): Problem[] {
  const seen = new Set<unknown>();
  return items.flatMap((item, index) => {
    const slug = isJsonObject(item) ? item['slug'] : undefined;
    if (slug === undefined || !seen.has(slug)) {
      seen.add(slug);
      return [];
    }
    return [{ path: [index, 'slug'], message: 'is already used by another agent in the list' }];
  });
}

const jsonMessages = {
  depth: 'is nested too deeply',
  null_character: 'contains U+0000',
  lone_surrogate: 'contains an unpaired surrogate',
  number_range: 'is a number out of range',
} as const;
