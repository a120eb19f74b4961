/** Measured requests, the same at every size. */
import { pick, type Request } from '../bench/load.ts';
import type { Targets } from './targets.ts';

export interface Scenario {
  name: string;
  request: (index: number) => Request;
  /** The matches and the time grow with the data, so the result is shown but not compared with a target. */
  grows?: true;
}

const base = '/api/coherence';

export interface Tokens {
  shared: string;
  /** Token of an account that is not a superuser, so that private classes apply. */
  user: string;
}

export function createScenarios(targets: Targets, tokens: Tokens): Scenario[] {
  const get = (token: string, path: string, query: Record<string, string | number> = {}): Request => {
    const text = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    ).toString();
    return {
      method: 'GET',
      path: `${base}${path}${text === '' ? '' : `?${text}`}`,
      headers: { authorization: `Bearer ${token}` },
    };
  };
  const search = (query: Record<string, string | number>): Request => get(tokens.user, '/conversations/search', query);
  const conversationPath = (index: number): string => `/conversations/${pick(targets.conversationIds, index)}`;
  return [
    { name: 'single read', request: (index) => get(tokens.shared, conversationPath(index)) },
    {
      name: 'find or create (hit)',
      request: (index) => get(tokens.shared, '/conversations', pick(targets.meetings, index)),
    },
    {
      name: 'PATCH',
      request: (index) => ({
        method: 'PATCH',
        path: base + conversationPath(index),
        headers: { authorization: `Bearer ${tokens.shared}`, 'content-type': 'application/json' },
        body: JSON.stringify({ infos: { n: index } }),
      }),
    },
    { name: 'summary', request: (index) => get(tokens.user, `${conversationPath(index)}/summary`) },
    {
      name: 'search holon_slug (event, 50 seen)',
      request: (index) => search({ holon_slug: pick(targets.events, index) }),
    },
    {
      name: 'search holon_slug (place, 450 seen)',
      request: (index) => search({ holon_slug: pick(targets.locations, index) }),
    },
    {
      name: 'search connected_holon_slug',
      request: (index) => search({ connected_holon_slug: pick(targets.linked, index) }),
    },
    { name: 'search person_id', request: (index) => search({ person_id: pick(targets.guests, index) }) },
    {
      name: 'search person_id, date_asc',
      request: (index) => search({ person_id: pick(targets.guests, index), sort: 'date_asc' }),
    },
    { name: 'search with all filters', request: (index) => search(pick(targets.combinations, index)) },
    {
      name: 'browse a journey of 50',
      request: (index) => get(tokens.shared, '/browse/conversations', { journey_id: pick(targets.journeys, index).id }),
    },
    {
      name: 'browse a journey of 50 in an event',
      request: (index) => {
        const { slug, event_slug } = pick(targets.journeys, index);
        return get(tokens.shared, '/browse/conversations', { journey_slug: slug, holon_slug: event_slug });
      },
    },
  ];
}
