/** Reads of the open API: search, people, holons, classes and journeys (rules/people#search, rules/people#people). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { startTestPlatform, type TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let ids: Record<string, Record<string, number>>;
let token: string;
const get = (path: string, headers: Record<string, string> = {}) =>
  platform.call('GET', `/api/v1${path}`, { token, headers });
const idOf = (list: string, key: string): number => ids[list]?.[key] ?? 0;

beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url, {}, { services: ['directory', 'api-gateway'] });
  ({ ids } = await platform.apply(
    parse(readFileSync(join(import.meta.dirname, '..', 'fixtures', 'v1-network.yaml'), 'utf8')),
  ));
  token = await platform.login('keeper@example.org', 'secret-of-keeper');
});
afterAll(() => platform.stop());

const notFound = { code: 'not_found', message: 'Not Found', retryable: false };
const refused = { code: 'validation_error', message: expect.any(String), retryable: false };

describe('lists of the API (rules/memberships#lists, rules/http#limits, rules/http#error-envelopes; D47)', () => {
  it.each([
    ['/people?q=a', 100],
    ['/holons?q=a', 100],
    ['/journeys', 50],
  ])('%s has the documented default page size, and returns items with their total count', async (path, limit) => {
    const { status, json } = await get(path);
    expect([status, json.limit, json.offset, json.has_more]).toEqual([200, limit, 0, false]);
    expect(json.count).toBe(json.items.length);
    expect(json.count).toBeGreaterThan(1);
    const page = (await get(`${path}${path.includes('?') ? '&' : '?'}limit=1&offset=1`)).json;
    expect([page.count, page.limit, page.offset, page.has_more]).toEqual([json.count, 1, 1, json.count > 2]);
    expect(page.items).toEqual([json.items[1]]);
    const beyond = (await get(`${path}${path.includes('?') ? '&' : '?'}offset=2000000000`)).json;
    expect([beyond.count, beyond.has_more, beyond.items]).toEqual([json.count, false, []]);
  });

  it.each([
    ['/people', 'q', 'missing'],
    ['/people?q=a&limit=101', 'limit', 'less_than_equal'],
    ['/people?q=a&limit=0', 'limit', 'greater_than_equal'],
    ['/people?q=a&offset=-1', 'offset', 'greater_than_equal'],
    ['/people?q=a&limit=x', 'limit', 'int_parsing'],
    ['/people?q=a&created_after=yesterday', 'created_after', 'datetime_parsing'],
    ['/people?q=%00', 'q', 'string_unicode'],
    ['/holons?q=a&limit=101', 'limit', 'less_than_equal'],
    ['/holons?q=a&updated_after=2026-13-01T00:00:00Z', 'updated_after', 'datetime_parsing'],
    ['/holons?q=a&parent=x', 'parent', 'int_parsing'],
    ['/journeys?limit=201', 'limit', 'less_than_equal'],
    ['/journeys?is_conversation=perhaps', 'is_conversation', 'bool_parsing'],
    ['/search', 'q', 'missing'],
    ['/search?q=a', 'q', 'string_too_short'],
    ['/search?q=ab&limit_per_type=51', 'limit_per_type', 'less_than_equal'],
    ['/search?q=ab&limit_per_type=0', 'limit_per_type', 'greater_than_equal'],
  ])('%s returns 422 for the parameter %s: %s', async (path, name, type) => {
    const { status, json } = await get(path);
    expect([status, json]).toEqual([
      422,
      { detail: [expect.objectContaining({ type, loc: ['query', name], msg: expect.any(String) })] },
    ]);
  });

  it.each([
    '/people?q=a&sort=id',
    '/holons',
    '/holons?parent=1',
    '/holons?q=a&sort=-name',
    '/holons?class=newsletter',
    '/holons?class=unknown',
    '/search?q=ab&types=person,team',
  ])('%s returns 400 validation_error', async (path) => {
    const { status, json } = await get(path);
    expect([status, json]).toEqual([400, refused]);
  });

  it('accepts an offset whose plus sign was decoded to a space', async () => {
    const [row] = await platform.sql<{ at: string }>(
      `select directory.iso_utc(max(updated_at)) as at from directory.people`,
    );
    const after = String(row?.at).replace('Z', '+00:00');
    expect((await get(`/people?q=a&updated_after=${after}`)).json.count).toBe(0);
    expect((await get(`/people?q=a&updated_after=2020-01-01T00:00:00+00:00`)).json.count).toBeGreaterThan(1);
  });

  it('returns an empty list for filters with unknown ids and slugs', async () => {
    for (const path of [
      '/holons?q=&parent=0',
      '/holons?q=&parent=-3',
      '/holons?q=&parent=99999999999',
      '/journeys?svc_app=x',
      '/journeys?applies_to=x',
    ]) {
      const { status, json } = await get(path);
      expect([path, status, json.count, json.items]).toEqual([path, 200, 0, []]);
    }
    expect((await get('/classes?object_kind=x')).json).toEqual([]);
  });
});

describe('single resources of the API (rules/http#ids, rules/http#etag)', () => {
  it.each([
    () => `/people/${idOf('people', 'ada')}`,
    () => `/holons/${idOf('holons', 'council')}`,
    () => '/holons/by-slug/council',
    () => '/classes/holon/community',
    () => '/journeys/membership',
  ])('%s returns an ETag, and 304 when it matches', async (path) => {
    const first = await get(path());
    const etag = first.headers.get('etag') ?? '';
    expect([first.status, etag]).toEqual([200, expect.stringMatching(/^"[^"]+"$/)]);
    const again = await get(path(), { 'if-none-match': etag });
    expect([again.status, again.text]).toEqual([304, '']);
    expect((await get(path(), { 'if-none-match': '"other"' })).status).toBe(200);
  });

  it.each([
    '/people/0',
    '/people/-1',
    '/people/99999999999',
    '/people/2000000000',
    '/holons/0',
    '/holons/99999999999',
    '/holons/by-slug/unknown',
    '/holons/by-slug/cellar',
    '/classes/holon/newsletter',
    '/classes/person/community',
    '/journeys/unknown',
    '/holons/by-slug/%00',
    '/classes/holon/%07',
    '/journeys/%C2%85',
  ])('%s returns 404 for an unknown object', async (path) => {
    const { status, json } = await get(path);
    expect([status, json]).toEqual([404, notFound]);
  });

  it.each([
    ['/people/ada', 'person_id', 'int_parsing'],
    ['/holons/1.5', 'holon_id', 'int_parsing'],
  ])('%s returns 422 for an invalid path id', async (path, name, type) => {
    const { status, json } = await get(path);
    expect([status, json.detail]).toEqual([422, [expect.objectContaining({ type, loc: ['path', name] })]]);
  });

  it('returns 401 for every resource without a per-user token', async () => {
    for (const path of [
      '/search?q=ab',
      '/people?q=a',
      '/people/1',
      '/holons?q=a',
      '/holons/1',
      '/holons/by-slug/a',
      '/classes',
      '/classes/holon/a',
      '/journeys',
      '/journeys/a',
    ]) {
      for (const credential of [null, platform.sharedToken]) {
        const { status, json } = await platform.call('GET', `/api/v1${path}`, { token: credential });
        expect([path, status, json.code]).toEqual([path, 401, 'unauthenticated']);
      }
    }
  });
});

describe('visibility in the API (rules/access#access-model, rules/journeys#classes; D42, D48)', () => {
  it('searches people and holons together, and returns private holons only to callers who can see them', async () => {
    const { status, json } = await get('/search?q=council&limit_per_type=5');
    expect([status, json.types, json.limit_per_type, json.count]).toEqual([200, ['person', 'holon'], 5, 2]);
    expect(json.items.map((item: any) => [item.kind, item.holon.slug, item.score, item.matched_field])).toEqual([
      ['holon', 'council', 0.8, 'name'],
      ['holon', 'core', 0.6, 'name'],
    ]);
    const stranger = await platform.login('stranger@example.org', 'secret-of-stranger');
    expect((await platform.call('GET', '/api/v1/search?q=council', { token: stranger })).json).toMatchObject({
      count: 0,
      items: [],
    });
    expect(
      (await platform.call('GET', `/api/v1/holons/${idOf('holons', 'council')}`, { token: stranger })).json,
    ).toEqual(notFound);
  });

  it('lists classes with their info fields, including custom fields of every type', async () => {
    const { json } = await get('/classes?object_kind=holon');
    expect(json.find((entry: any) => entry.slug === 'circle').journeys.map((journey: any) => journey.slug)).toEqual([
      'rotation',
      'participation',
      'membership',
      'contact',
    ]);
    const document = (await platform.call('GET', '/api/v1/openapi.json', { token: null })).json;
    const [example] = document.components.schemas.ObjectClassPublic.examples;
    expect(example.config.info_field_groups[0].fields.map((field: any) => field.type).toSorted()).toEqual([
      'boolean',
      'date',
      'long_text',
      'multi_select',
      'number',
      'rich_text',
      'select',
      'slideshow',
      'text',
      'url',
      'video',
    ]);
  });
});
