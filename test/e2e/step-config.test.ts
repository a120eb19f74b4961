/** Journey steps and their configuration over the API, and the effects of a PATCH on conversations. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startRealtimeKit, waitFor, type RealtimeKitServer } from '#libs/product/testing';
import { applyDemo, createConversation, eventually, startTestPlatform } from './test-platform.ts';
import type { Answer, Demo, TestPlatform } from './test-platform.ts';

let provider: RealtimeKitServer;
let platform: TestPlatform;
let demo: Demo;
const tokens: Record<string, string> = {};
beforeAll(async () => {
  provider = await startRealtimeKit();
  platform = await startTestPlatform(import.meta.url, {
    REALTIMEKIT_BASE_URL: provider.baseUrl,
    REALTIMEKIT_API_TOKEN: provider.apiToken,
  });
  demo = await applyDemo(platform, 'cfg', [
    { slug: 'held', title: 'Held', goal: 'Meet' },
    { slug: 'import', title: 'Import', pipeline_job: 'transcript_import' },
    { slug: 'after', title: 'After', config: { note: 'kept' } },
    {
      slug: 'odd',
      title: 'Odd',
      is_archived: true,
      pipeline_job: 'transcript_import',
      config: { advance_on_success: 'yes', gone: 1 },
    },
    { slug: 'audited', title: 'Audited' },
  ]);
  for (const name of ['ada', 'ben', 'root'])
    tokens[name] = await platform.login(`${name}-cfg@example.org`, `secret-of-${name}-cfg`);
});
afterAll(async () => {
  await platform.stop();
  await provider.stop();
});

const place = (step: string): string => `/api/coherence/journeys/journey-cfg/steps/${step}/config`;
const read = (step: string): Promise<Answer> => platform.call('GET', place(step), { token: tokens['ada'] ?? '' });
const patch = (step: string, json: unknown, token = tokens['ada'] ?? ''): Promise<Answer> =>
  platform.call('PATCH', place(step), { token, json });
const patchText = (step: string, body: string): Promise<Answer> =>
  platform.call('PATCH', place(step), {
    token: tokens['ada'] ?? '',
    body,
    headers: { 'content-type': 'application/json' },
  });
const audit = (step: string): Promise<any[]> => platform.ask('journeys', 'audit', 'journey-cfg', step);

describe('GET /journeys/{journey_slug}/steps (rules/steps#step-configuration)', () => {
  it('lists the steps in pipeline order, including archived steps, without configuration', async () => {
    const answer = await platform.call('GET', '/api/coherence/journeys/journey-cfg/steps', {
      token: tokens['root'] ?? '',
    });
    expect(answer.status).toBe(200);
    expect(answer.json.map((step: any) => [step.slug, step.order, step.is_archived, step.pipeline_job])).toEqual([
      ['held', 0, false, null],
      ['import', 1, false, 'transcript_import'],
      ['after', 2, false, null],
      ['odd', 3, true, 'transcript_import'],
      ['audited', 4, false, null],
    ]);
    expect(Object.keys(answer.json[0]).toSorted()).toEqual([
      'goal',
      'id',
      'is_archived',
      'order',
      'pipeline_job',
      'slug',
      'starter_message',
      'success_criteria',
      'title',
      'updated_at',
    ]);
  });
});

describe('step routes: access and unknown objects (rules/access#classes-of-routes; D12, D13)', () => {
  const operations = [
    ['GET', '/api/coherence/journeys/journey-cfg/steps'],
    ['GET', place('import')],
    ['PATCH', place('import')],
  ] as const;
  it.each(operations)('%s %s requires coherence access', async (method, path) => {
    const json = method === 'PATCH' ? { json: { config: {} } } : {};
    const message = expect.any(String);
    const call = (token: string | null | undefined) =>
      platform.call(method, path, { ...json, ...(token === undefined ? {} : { token }) });
    expect((await call(null)).status).toBe(401);
    const shared = await call(undefined);
    expect([shared.status, shared.json]).toEqual([403, { detail: message, error: 'per_user_token_required', message }]);
    const ben = await call(tokens['ben']);
    expect([ben.status, ben.json]).toEqual([403, { detail: message, error: 'coherence_access_required', message }]);
  });

  it.each([
    ['GET', '/api/coherence/journeys/unknown/steps'],
    ['GET', '/api/coherence/journeys/unknown/steps/import/config'],
    ['GET', place('unknown')],
    ['PATCH', place('unknown')],
  ])('%s %s returns 404 for an unknown object', async (method, path) => {
    const json =
      method === 'PATCH' ? { json: { config: { nope: 1 }, expected_updated_at: '2020-01-01T00:00:00Z' } } : {};
    const answer = await platform.call(method, path, { token: tokens['ada'] ?? '', ...json });
    expect([answer.status, answer.json]).toEqual([404, { detail: 'Not Found' }]);
    expect((await platform.call('GET', path.replace('unknown', 'a%00'), { token: tokens['ada'] ?? '' })).status).toBe(
      404,
    );
  });
});

describe('GET and PATCH …/config (rules/steps#step-configuration; D16b)', () => {
  it('returns step defaults and the read-only pipeline_job, with an ETag', async () => {
    const answer = await read('import');
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        config: { pipeline_job: 'transcript_import', advance_on_success: false },
        updated_at: expect.stringMatching(/Z$/),
      },
    ]);
    const etag = answer.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"/);
    const again = await platform.call('GET', place('import'), {
      token: tokens['root'] ?? '',
      headers: { 'if-none-match': etag },
    });
    expect(again.status).toBe(304);
  });

  it('merges recursively in a step without a job, preserves digits and unusual keys, and deletes keys with null', async () => {
    const big =
      '{"config": {"n": 12345678901234567890, "deep": {"a": {"b": 1, "c": [null, {"d": null}]}, "__proto__": {"x": 1}}, "constructor": 1.10}}';
    const first = await patchText('after', big);
    expect(first.status).toBe(200);
    for (const part of ['12345678901234567890', '1.10', '"__proto__"', '"note":"kept"'])
      expect(first.text).toContain(part);
    const second = await patch('after', { config: { deep: { a: { b: null, e: 2 } }, constructor: null } });
    expect(second.json.config.deep.a).toEqual({ c: [null, { d: null }], e: 2 });
    expect(second.text).toContain('12345678901234567890');
    expect(Object.hasOwn(second.json.config, 'constructor')).toBe(false);
    expect((await read('after')).json).toEqual(second.json);
    expect((await patch('after', { config: { pipeline_job: 'x' } })).json.fields).toEqual({
      pipeline_job: expect.any(String),
    });
  });

  it('returns stale_config, then config_keys_not_writable, then invalid_step_config, without changing the step', async () => {
    const before = (await read('odd')).json;
    const bad = { advance_on_success: 1, pipeline_job: 'x', nope: 2 };
    const stale = await patch('odd', { config: bad, expected_updated_at: '2020-01-01T00:00:00Z' });
    expect([stale.status, stale.json]).toEqual([
      409,
      { error: 'stale_config', message: expect.any(String), updated_at: before.updated_at },
    ]);
    const refused = await patch('odd', { config: bad, expected_updated_at: before.updated_at });
    expect([refused.status, refused.json]).toEqual([
      400,
      {
        error: 'config_keys_not_writable',
        message: expect.any(String),
        fields: { pipeline_job: expect.any(String), nope: expect.any(String) },
      },
    ]);
    const invalid = await patch('odd', { config: { advance_on_success: 1 } });
    expect([invalid.status, invalid.json]).toEqual([
      400,
      {
        error: 'invalid_step_config',
        message: expect.any(String),
        fields: { advance_on_success: expect.any(String), gone: expect.any(String) },
      },
    ]);
    expect((await read('odd')).json).toEqual(before);
    expect(await audit('odd')).toEqual([]);
  });

  it('accepts null for an undeclared key only while the key is stored', async () => {
    const answer = await patch('odd', { config: { gone: null, advance_on_success: null } });
    expect([answer.status, answer.json.config]).toEqual([
      200,
      { pipeline_job: 'transcript_import', advance_on_success: false },
    ]);
    expect((await patch('odd', { config: { gone: null } })).json).toMatchObject({
      error: 'config_keys_not_writable',
      fields: { gone: expect.any(String) },
    });
  });

  it('compares updated_at in microseconds, and changes it only if the configuration changes', async () => {
    await patch('held', { config: { a: 1 } });
    const { updated_at: updatedAt } = (await read('held')).json;
    const same = await patch('held', { config: { a: 1 }, expected_updated_at: updatedAt });
    expect([same.status, same.json.updated_at]).toEqual([200, updatedAt]);
    const changed = await patch('held', { config: { a: 2 }, expected_updated_at: updatedAt.replace('Z', '+00:00') });
    expect(changed.status).toBe(200);
    expect(changed.json.updated_at > updatedAt).toBe(true);
    expect((await patch('held', { config: {}, expected_updated_at: updatedAt })).status).toBe(409);
    expect((await patch('held', { config: {}, expected_updated_at: null })).status).toBe(200);
  });

  it.each([
    [{}, ['body', 'payload', 'config']],
    [{ config: null }, ['body', 'payload', 'config']],
    [{ config: [] }, ['body', 'payload', 'config']],
    [{ config: {}, expected_updated_at: '2026-05-01T10:00:00' }, ['body', 'payload', 'expected_updated_at']],
    [{ config: {}, expected_updated_at: 'soon' }, ['body', 'payload', 'expected_updated_at']],
    [{ config: { 'a\u0000': 1 } }, ['body', 'payload', 'config', 'a\u0000']],
  ])('rejects the step configuration %j as malformed', async (body, loc) => {
    const answer = await patch('held', body);
    expect(answer.status).toBe(422);
    expect(answer.json.detail[0].loc).toEqual(loc);
  });

  it('loses no concurrent writes to different keys of a step', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `key${index}`);
    const answers = await Promise.all(names.map((name) => patch('held', { config: { parallel: { [name]: name } } })));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    expect((await read('held')).json.config.parallel).toEqual(Object.fromEntries(names.map((name) => [name, name])));
  });

  it('lists step changes in the audit log with account and dotted paths, newest first, and no rejected requests', async () => {
    await patch('audited', { config: { a: { b: 1, c: { d: 2 } } } });
    await patch('audited', { config: { a: { b: null } } }, tokens['root']);
    await patch('audited', { config: { pipeline_job: 1 } });
    const entries = await audit('audited');
    expect(entries.map(({ account, paths, source }) => [account.email, paths, source])).toEqual([
      ['root-cfg@example.org', ['a.b'], 'api'],
      ['ada-cfg@example.org', ['a.b', 'a.c.d'], 'api'],
    ]);
    const { stdout } = await platform.cli('journeys', 'audit', 'journey-cfg', 'audited');
    expect(stdout.split('\n')[2]).toMatch(/Z {2}ada-cfg@example\.org +a\.b, a\.c\.d$/);
    const stderr = 'Step unknown of a journey journey-cfg does not exist.\n';
    expect(await platform.cli('journeys', 'audit', 'journey-cfg', 'unknown')).toMatchObject({
      code: 1,
      stdout: '',
      stderr,
    });
    const list = (path: string) =>
      platform.call('GET', `/api/ops/journeys/journey-cfg/steps/${path}`, { token: tokens['root'] ?? '' });
    expect((await list('audited/config-audit?limit=1')).json).toEqual({ items: [entries[0]] });
    expect((await list('unknown/config-audit')).json).toMatchObject({ message: 'The step does not exist.' });
    expect((await list('audited/config-audit?limit=0')).status).toBe(422);
  });
});

describe('effect of a step PATCH (rules/steps#step-configuration: every conversation processed or retried afterwards)', () => {
  let meeting = 0;
  async function meet(): Promise<number> {
    meeting += 1;
    const { id } = await createConversation(
      platform,
      demo,
      new Date(Date.UTC(2025, 0, 1) - meeting * 3_600_000).toISOString(),
    );
    const session = {
      id: `s-${meeting}`,
      meetingId: `m-${meeting}`,
      startedAt: '2026-05-01T10:00:00.000Z',
      endedAt: '2026-05-01T11:00:00.000Z',
    };
    provider.addSession(session);
    provider.setArtifact(session.id, {
      rows: [{ startTime: 1_000, endTime: 2_000, sentence: 'Hello.', peerData: { cpi: 'c' } }],
    });
    await platform.call('POST', `/api/coherence/conversations/${id}/enter-coherence`, {
      json: {
        meetingId: session.meetingId,
        conversationStartedAt: '2026-05-01T10:00:00Z',
        captureEndedAt: '2026-05-01T11:00:00Z',
      },
    });
    await platform.call('POST', `/api/coherence/conversations/${id}/recorded`, { json: {} });
    return id;
  }
  const status = async (id: number) =>
    (await platform.call('GET', `/api/coherence/conversations/${id}/transcript/import-evidence`)).json.status;
  const step = async (id: number) => (await platform.call('GET', `/api/coherence/conversations/${id}`)).json.step_slug;

  it('applies a changed step configuration to new, retried and repeated conversations', async () => {
    expect((await patch('import', { config: { advance_on_success: false } })).status).toBe(200);
    const early = await meet();
    await eventually(async () => expect(await status(early)).toBe('imported'));
    expect(await step(early)).toBe('import');

    provider.addFault('sessions', { status: 429, headers: { 'retry-after': '2' } });
    const asked = provider.requests.length;
    const waiting = await meet();
    await waitFor(async () => provider.requests.length > asked);
    expect((await patch('import', { config: { advance_on_success: true } })).status).toBe(200);
    provider.clearFaults();

    const next = await meet();
    await eventually(async () => expect([await status(next), await step(next)]).toEqual(['imported', 'after']));
    await eventually(async () => expect([await status(waiting), await step(waiting)]).toEqual(['imported', 'after']));
    expect(await step(early)).toBe('import');
    expect(await platform.cli('conversations', 'import-transcript', String(early))).toMatchObject({ code: 0 });
    await eventually(async () => expect(await step(early)).toBe('after'));
  });
});
