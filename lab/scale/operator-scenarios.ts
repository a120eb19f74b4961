/** The measured lists of `/api/ops`, the same at every size (P7). */
import { writeCursor, writeInstant } from '#libs/merged-list';
import type { Request } from '../bench/load.ts';
import { conversationCount, type OperatorSizes, plantedCount, plantedPerson, plantedText } from './operator-sql.ts';
import { pick, type Scenario } from './scenarios.ts';

const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000);

/** @param token of a member of `ops_viewers` */
export function operatorScenarios(sizes: OperatorSizes, token: string): Scenario[] {
  const targets = Array.from({ length: plantedCount }, (_, target) => target);
  const list = (
    name: string,
    path: string,
    query: (target: number) => Readonly<Record<string, string | number>> = () => ({}),
  ): Scenario => ({
    name: `/${path} ${name}`,
    request: (index): Request => {
      const values = Object.entries(query(pick(targets, index))).map(([key, value]): [string, string] => [key, String(value)]);
      return {
        method: 'GET',
        path: `/api/ops/${path}?${new URLSearchParams(values).toString()}`,
        headers: { authorization: `Bearer ${token}` },
      };
    },
  });
  const middle = daysAgo(7);
  const middleId = `${middle
    .getTime()
    .toString(16)
    .padStart(12, '0')
    .replace(/^(.{8})/, '$1-')}-7000-8000-000000000000`;
  const jobsFurther = writeCursor({ name: 'jobs' }, { at: middleId, source: 'media' });
  const webhooksFurther = writeCursor(
    { name: 'webhooks' },
    { at: writeInstant({ at: middle.toISOString().replace('Z', '000Z'), id: 1 }), source: 'webhooks' },
  );
  const hour = { created_after: daysAgo(5).toISOString(), created_before: daysAgo(4.95).toISOString() };
  return [
    list('', 'overview'),
    list('all', 'jobs'),
    list('200 of all', 'jobs', () => ({ limit: 200 })),
    list('the page of a week ago', 'jobs', () => ({ cursor: jobsFurther })),
    list('of a service', 'jobs', () => ({ service: 'media' })),
    list('dead', 'jobs', () => ({ state: 'dead' })),
    list('cancelled, of which there are none', 'jobs', () => ({ state: 'cancelled' })),
    list('a rare type', 'jobs', () => ({ type: 'transcripts.rare' })),
    list('a type in a state', 'jobs', () => ({ type: 'transcripts.often-1', state: 'dead' })),
    list('by key', 'jobs', (target) => ({ key: `key-${50 * (target + 1)}` })),
    list('by request', 'jobs', (target) => ({ request_id: `request-${target + 1}` })),
    list('by conversation', 'jobs', (target) => ({ conversation_id: 2 * target + 2 })),
    list('by error', 'jobs', (target) => ({ error: plantedText(target) })),
    list('by an error that there is not', 'jobs', () => ({ error: 'no such error' })),
    list('by time', 'jobs', () => hour),
    list('dead by time', 'jobs', () => ({ ...hour, state: 'dead' })),
    list('all', 'webhooks'),
    list('200 of all', 'webhooks', () => ({ limit: 200 })),
    list('the page of a week ago', 'webhooks', () => ({ cursor: webhooksFurther })),
    list('a rare kind', 'webhooks', () => ({ kind: 'meeting' })),
    list('a rare outcome', 'webhooks', () => ({ outcome: 'stale' })),
    list('of a kind in an outcome', 'webhooks', () => ({ kind: 'telegram', outcome: 'send_refused' })),
    list('of a person', 'webhooks', (target) => ({ person_id: plantedPerson(target) })),
    list('of a person with many', 'webhooks', (target) => ({ person_id: 7 + target })),
    list('by time', 'webhooks', () => ({ from: hour.created_after, to: hour.created_before })),
    list('by a text that few have', 'webhooks', (target) => ({ q: plantedText(target) })),
    list('by a text that many have', 'webhooks', () => ({ q: 'booking_created' })),
    list('by a text that nobody has', 'webhooks', () => ({ q: 'no such booking' })),
    list('by a text of a person', 'webhooks', (target) => ({ q: plantedText(target), person_id: plantedPerson(target) })),
    list('all', 'pipelines'),
    list('of a journey', 'pipelines', () => ({ journey: 'circle' })),
    list('of a step', 'pipelines', () => ({ step: 'import' })),
    list('dead', 'pipelines', () => ({ state: 'dead' })),
    list('of a conversation', 'pipelines', (target) => ({
      conversation_id: Math.max(10, Math.floor(conversationCount(sizes) / 20) * 10) - 10 * (target % 2),
    })),
  ];
}
