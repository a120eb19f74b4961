/** Lists and searches of the open API that are measured, the same at every size (rules/memberships#lists). */
import { pick, type Request } from '../bench/load.ts';
import {
  personTarget,
  plantedPair,
  plantedWord,
  responsibleTarget,
  targetCount,
  targetHolonId,
  type NetworkSizes,
} from './network-sql.ts';
import type { Scenario } from './scenarios.ts';

const day = '2026-06-01T00:00:00Z';

/** @param token token of an account that cannot read private objects */
export function networkScenarios(sizes: NetworkSizes, token: string): Scenario[] {
  const callRoute = createRouteCall(sizes, token);
  return [
    ...describeSearch(callRoute),
    ...describePeople(callRoute),
    ...describeHolons(callRoute),
    ...describeLists(callRoute),
  ];
}

type RouteCall = ReturnType<typeof createRouteCall>;

function createRouteCall(sizes: NetworkSizes, token: string) {
  const get = (path: string, query: Readonly<Record<string, string | number>> = {}): Request => {
    const text = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    ).toString();
    return {
      method: 'GET',
      path: `/api/v1${path}${text === '' ? '' : `?${text}`}`,
      headers: { authorization: `Bearer ${token}` },
    };
  };
  const targets = Array.from({ length: targetCount }, (_, target) => target);
  const scenario = (name: string, request: (target: number) => Request): Scenario => ({
    name,
    request: (index) => request(pick(targets, index)),
  });
  const growing = (name: string, request: (target: number) => Request): Scenario => ({
    ...scenario(name, request),
    grows: true,
  });
  const list = (path: string, ...queries: Readonly<Record<string, string | number>>[]): Scenario[] =>
    queries.map((query) => {
      const options = Object.entries(query).map(([key, value]) => `${key}=${value}`);
      const pathOf = (target: number): string =>
        path
          .replace('{holon}', String(targetHolonId(sizes, target)))
          .replace('{person}', String(personTarget(sizes, target)));
      return scenario([path, ...options].join(' '), (target) => get(pathOf(target), query));
    });
  return { sizes, get, scenario, growing, list };
}

const word = (kind: Parameters<typeof plantedWord>[0], target: number): string =>
  plantedWord(kind, target).toLowerCase();
const emailOf = (sizes: NetworkSizes, target: number): string =>
  `ada.bergendal${personTarget(sizes, target)}@example.org`;

function describeSearch({ sizes, get, scenario }: RouteCall): Scenario[] {
  return [
    scenario('/search name', (target) => get('/search', { q: word('name', target) })),
    scenario('/search description', (target) => get('/search', { q: word('description', target) })),
    scenario('/search channel', (target) => get('/search', { q: word('channel', target) })),
    scenario('/search part of a name', (target) => get('/search', { q: word('name', target).slice(2) })),
    scenario('/search email', (target) => get('/search', { q: emailOf(sizes, target) })),
    scenario('/search website', (target) => get('/search', { q: `https://${word('channel', target)}.example.org` })),
    scenario('/search nothing', (target) => get('/search', { q: `${word('name', target)} who is unknown` })),
    scenario('/search 2 characters, rare', (target) => get('/search', { q: plantedPair(target) })),
    scenario('/search 2 characters, frequent', () => get('/search', { q: 'an' })),
    scenario('/search frequent word', () => get('/search', { q: 'carla' })),
    scenario('/search frequent part', () => get('/search', { q: 'lund' })),
    scenario('/search example.org', () => get('/search', { q: 'example.org' })),
  ];
}

function describePeople({ get, scenario, growing }: RouteCall): Scenario[] {
  return [
    ...(['name', 'latest', 'updated'] as const).map((sort) =>
      scenario(`/people name, ${sort}`, (target) => get('/people', { q: word('name', target), sort })),
    ),
    scenario('/people name, created_after', (target) =>
      get('/people', { q: word('name', target), created_after: '2020-01-01T00:00:00Z', sort: 'latest' }),
    ),
    scenario('/people full name, one', (target) => get('/people', { q: `ada ${word('name', target)}` })),
    scenario('/people 2 characters, rare', (target) => get('/people', { q: plantedPair(target) })),
    growing('/people 2 characters, frequent', () => get('/people', { q: 'an' })),
    growing('/people frequent name', () => get('/people', { q: 'carla' })),
    growing('/people frequent name, latest', () => get('/people', { q: 'carla', sort: 'latest' })),
    growing('/people frequent name, offset 50', () => get('/people', { q: 'carla', offset: 50, limit: 20 })),
    growing('/people updated_after', () => get('/people', { q: 'carla', updated_after: day, sort: 'updated' })),
  ];
}

function describeHolons({ sizes, get, scenario, growing, list }: RouteCall): Scenario[] {
  return [
    scenario('/holons name', (target) => get('/holons', { q: word('name', target) })),
    scenario('/holons description', (target) => get('/holons', { q: word('description', target) })),
    scenario('/holons name in a class', (target) =>
      get('/holons', { q: word('name', target), class: 'circle', sort: 'latest' }),
    ),
    scenario('/holons 2 characters, rare', (target) => get('/holons', { q: plantedPair(target) })),
    growing('/holons 2 characters, frequent', () => get('/holons', { q: 'an' })),
    growing('/holons frequent name', () => get('/holons', { q: 'meadow' })),
    ...list(
      '/holons',
      { class: 'guild' },
      { class: 'guild', sort: 'updated' },
      { class: 'circle', sort: 'name' },
      { class: 'circle', sort: 'latest' },
    ),
    scenario('/holons of a parent in a class', (target) =>
      get('/holons', { class: 'circle', parent: sizes.holons / 20 + target }),
    ),
    growing('/holons class=circle, updated_after', () =>
      get('/holons', { class: 'circle', updated_after: day, sort: 'updated' }),
    ),
  ];
}

function describeLists({ sizes, get, scenario, growing, list }: RouteCall): Scenario[] {
  return [
    ...list(
      '/holons/{holon}/memberships',
      {},
      { sort: '-name' },
      { sort: 'follow_up_after' },
      { sort: 'person_created' },
    ),
    ...list(
      '/holons/{holon}/memberships',
      { journey: 'journey-3' },
      { follow_up: 'overdue' },
      { follow_up: 'none' },
      { q: 'ada' },
    ),
    ...list('/holons/{holon}/relationships', {}),
    ...list('/holons/{holon}/notes', {}),
    ...list('/people/{person}/memberships', {}),
    ...list('/people/{person}/notes', {}),
    ...list('/classes', {}),
    ...list('/journeys', {}, { q: 'journey-7' }, { svc_app: 'app-3', offset: 10, limit: 10 }),
    ...list(
      '/responsible',
      {},
      { type: 'person' },
      { type: 'guild', limit: 20 },
      { when: 'overdue', limit: 20 },
      { when: 'today', limit: 20 },
      { when: 'future', limit: 20 },
    ),
    ...list('/responsible', { limit: 20, offset: 40 }, { type: 'person,circle', when: 'overdue,today', limit: 20 }),
    scenario('/responsible of a person', (target) => get('/responsible', { responsible: responsibleTarget(target) })),
    scenario('/responsible of a person, overdue', (target) =>
      get('/responsible', { responsible: responsibleTarget(target), when: 'overdue' }),
    ),
    growing('/responsible offset 1000', () => get('/responsible', { limit: 20, offset: 1000 })),
    scenario('/people/{id}', (target) => get(`/people/${personTarget(sizes, target)}`)),
    scenario('/holons/{id}', (target) => get(`/holons/${targetHolonId(sizes, target)}`)),
  ];
}
