/** Measured requests of `/api/ops` (P7): lists, the same at every size, and bulk actions. */
import { operatorLists, encodePosition, formatInstantKey } from '#libs/infrastructure/cursor';
import { pick, type Request } from '../bench/load.ts';
import type { Act } from './acts.ts';
import {
  conversationCount,
  type OperatorSizes,
  plantedConversation,
  plantedCount,
  plantedPerson,
  plantedText,
  sameError,
} from './operator-sql.ts';
import type { Scenario } from './scenarios.ts';

const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000);

type List = (
  name: string,
  path: string,
  query?: (target: number) => Readonly<Record<string, string | number>>,
) => Scenario;

/** @param token token of a member of `ops_viewers` */
export function operatorScenarios(sizes: OperatorSizes, token: string): Scenario[] {
  const list = createList(token);
  return [
    { ...list('', 'overview'), grows: true },
    ...listJobs(list),
    ...listWebhooks(list),
    ...listPipelines(list, sizes),
  ];
}

function createList(token: string): List {
  const targets = Array.from({ length: plantedCount }, (_, target) => target);
  return (name, path, query = () => ({})) => ({
    name: `/${path} ${name}`.trim(),
    request: (index): Request => {
      const values = Object.entries(query(pick(targets, index))).map(([key, value]): [string, string] => [
        key,
        String(value),
      ]);
      return {
        method: 'GET',
        path: `/api/ops/${path}?${new URLSearchParams(values).toString()}`,
        headers: { authorization: `Bearer ${token}` },
      };
    },
  });
}

const day = { from: daysAgo(6).toISOString(), to: daysAgo(5).toISOString() };
const hour = { created_after: daysAgo(5).toISOString(), created_before: daysAgo(4.95).toISOString() };

const jobsBefore = (days: number): string => {
  const time = daysAgo(days).getTime().toString(16).padStart(12, '0');
  return encodePosition(
    { name: 'jobs' },
    { at: `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`, source: 'media' },
  );
};

function listJobs(list: List): Scenario[] {
  return [
    list('all', 'jobs'),
    list('200 of all', 'jobs', () => ({ limit: 200 })),
    list('the page of a week ago', 'jobs', () => ({ cursor: jobsBefore(7) })),
    list('the oldest', 'jobs', () => ({ cursor: jobsBefore(13.99) })),
    list('of a service', 'jobs', () => ({ service: 'media' })),
    list('dead', 'jobs', () => ({ state: 'dead' })),
    list('cancelled, of which there are none', 'jobs', () => ({ state: 'cancelled' })),
    list('a rare type', 'jobs', () => ({ type: 'transcripts.rare' })),
    list('a type in a state', 'jobs', () => ({ type: 'transcripts.often-1', state: 'dead' })),
    list('by key', 'jobs', (target) => ({ key: `key-${50 * (target + 1)}` })),
    list('by request', 'jobs', (target) => ({ request_id: `request-${target + 1}` })),
    list('by conversation', 'jobs', (target) => ({ conversation_id: 2 * target + 2 })),
    list('of a conversation with few', 'jobs', (target) => ({ conversation_id: plantedConversation(target) })),
    list('by error', 'jobs', (target) => ({ error: plantedText(target) })),
    list('by an error that there is not', 'jobs', () => ({ error: 'no such error' })),
    list('by an error that thousands have', 'jobs', () => ({ error: sameError })),
    list('by an error that thousands have, the oldest', 'jobs', () => ({ error: sameError, cursor: jobsBefore(13.9) })),
    list('by time', 'jobs', () => hour),
    list('dead by time', 'jobs', () => ({ ...hour, state: 'dead' })),
    list('of a service, a state and a time', 'jobs', () => ({ ...hour, service: 'media', state: 'succeeded' })),
    list('by error, service and state', 'jobs', (target) => ({
      error: plantedText(target),
      service: 'transcripts',
      state: 'dead',
    })),
    list('by error, type and time', 'jobs', () => ({
      created_before: daysAgo(13.5).toISOString(),
      error: sameError,
      type: 'media.often-1',
    })),
    list('by conversation and state', 'jobs', (target) => ({ conversation_id: 2 * target + 2, state: 'dead' })),
    list('by request and service', 'jobs', (target) => ({ request_id: `request-${target + 1}`, service: 'agents' })),
  ];
}

const webhooksBefore = (days: number): string => {
  const at = formatInstantKey({ at: daysAgo(days).toISOString().replace('Z', '000Z'), id: 1 });
  return encodePosition(operatorLists.webhooks, { at, source: 'agents' });
};

function listWebhooks(list: List): Scenario[] {
  return [
    list('all', 'webhooks'),
    list('200 of all', 'webhooks', () => ({ limit: 200 })),
    list('the page of a week ago', 'webhooks', () => ({ cursor: webhooksBefore(7) })),
    list('the oldest', 'webhooks', () => ({ cursor: webhooksBefore(13.99) })),
    list('a rare kind', 'webhooks', () => ({ kind: 'meeting' })),
    list('a rare outcome', 'webhooks', () => ({ outcome: 'stale' })),
    list('of a kind in an outcome', 'webhooks', () => ({ kind: 'telegram', outcome: 'send_refused' })),
    list('of a person', 'webhooks', (target) => ({ person_id: plantedPerson(target) })),
    list('of a person with many', 'webhooks', (target) => ({ person_id: 7 + target })),
    list('by time', 'webhooks', () => ({ from: hour.created_after, to: hour.created_before })),
    list('by a text that few have', 'webhooks', (target) => ({ q: plantedText(target) })),
    list('by a text that many have', 'webhooks', () => ({ q: 'booking_created' })),
    list('by a text that nobody has', 'webhooks', () => ({ q: 'no such booking' })),
    list('by a text of a person', 'webhooks', (target) => ({
      q: plantedText(target),
      person_id: plantedPerson(target),
    })),
    list('by a text, a kind and a time', 'webhooks', () => ({
      q: 'booking_created',
      kind: 'booking',
      from: day.from,
      to: day.to,
    })),
    list('by a text and a rare outcome', 'webhooks', (target) => ({ q: plantedText(target), outcome: 'stale' })),
    list('of a person in an outcome', 'webhooks', (target) => ({ person_id: plantedPerson(target), outcome: 'stale' })),
    list('one', `webhooks/${plantedCount}`),
  ];
}

function listPipelines(list: List, sizes: OperatorSizes): Scenario[] {
  return [
    list('all', 'pipelines'),
    list('of a journey', 'pipelines', () => ({ journey: 'circle' })),
    list('of a rare journey', 'pipelines', () => ({ journey: 'seldom' })),
    list('of a step', 'pipelines', () => ({ step: 'import' })),
    list('of a rare step', 'pipelines', () => ({ step: 'rare' })),
    list('of a step in a state', 'pipelines', () => ({ journey: 'circle', step: 'import', state: 'succeeded' })),
    list('dead', 'pipelines', () => ({ state: 'dead' })),
    list('of a conversation', 'pipelines', (target) => ({
      conversation_id: Math.max(10, Math.floor(conversationCount(sizes) / 20) * 10) - 10 * (target % 2),
    })),
  ];
}

/**
 * Returns operator actions on ten thousand jobs with the same error: counting them, redriving them, and verifying that
 * none of them is dead any more (P3).
 */
export function operatorActs(): Act[] {
  const path = '/api/ops/jobs/redrive';
  const choice = { filter: { error: sameError, state: 'dead', service: 'media' } };
  return [
    { name: 'redrive all of one error, dry run', path, body: { ...choice, dry_run: true } },
    { name: 'redrive all of one error', path, body: choice },
    { name: 'redrive them again', path, body: choice },
    {
      name: 'replay a rare outcome, dry run',
      path: '/api/ops/webhooks/replay',
      body: { filter: { outcome: 'stale' }, dry_run: true },
    },
  ];
}
