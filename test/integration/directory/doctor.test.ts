import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createTestEnvironment,
  startPlatform,
  startRealtimeKit,
  type Platform,
  type TestEnvironment,
} from '#libs/product/testing';

interface Finding {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

let env: TestEnvironment;
let platform: Platform;
beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  const provider = await startRealtimeKit();
  env.onStop(() => provider.stop());
  platform = await startPlatform(env, { overrides: { REALTIMEKIT_BASE_URL: provider.baseUrl } });
});
afterAll(() => env.stop());

describe('doctor (rules/cli#admin-cli)', () => {
  it('reports a healthy platform including access to conversations (D92), and names stopped services', async () => {
    const well = await platform.cli('doctor', '--json');
    const findings = JSON.parse(well.stdout) as Finding[];
    expect(findings.filter(({ ok }) => !ok)).toEqual([]);
    expect(well.code).toBe(0);
    expect(findings.find(({ name }) => name === 'conversation access')).toMatchObject({
      detail: expect.stringMatching(/^`open`: every account/),
    });
    expect(findings.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'NATS',
        'PostgreSQL',
        'object store',
        'stream JOBS',
        'service directory',
        'service agents',
        'service media',
      ]),
    );

    const evidence = `insert into transcripts.import_evidence (conversation_id, status, contract_import, artifact_format, recorded_at)
      values (7, 'transcript_window_missing', false, 'json', now() - interval '1 hour'), (8, 'transcript_window_missing', false, 'csv', now())`;
    await env.sql(evidence);
    const csv = await platform.cli('doctor');
    expect(csv.code).toBe(0);
    expect(csv.stdout).toMatch(/^off {4}transcripts of the provider +the latest one, of conversation 8 .* was CSV/m);

    await env.sql(
      `insert into directory.people (name, contact, photo_url)
       values ('Old', '{"web": "javascript:alert(1)", "note": "a: b", "room": "half past 5"}', 'data:,alert(1)'), ('Fine', '{"web": "https://a.org"}', null)`,
    );
    const old = await platform.cli('doctor');
    expect(old.code).toBe(1);
    expect(old.stdout).toMatch(/^WRONG {2}links +person \d+ contact\.\w+ must be a link/m);
    for (const field of ['contact.web', 'contact.note', 'photo_url']) expect(old.stdout).toContain(`${field} must be`);
    expect(old.stdout).not.toMatch(/alert\(1\)|contact\.room|person 2/);

    await platform.stop();
    const ill = await platform.cli('doctor');
    expect(ill.code).toBe(1);
    expect(ill.stdout).toMatch(/^WRONG {2}service directory {2,}\S/m);
    expect(ill.stdout).toMatch(/^ok {5}NATS +answers/m);
    expect(ill.stderr).toMatch(/^Problems found: service agents, .*service directory, /);
  });
});

describe('notes list (admin CLI)', () => {
  it('notes list requires exactly one owner with a valid id', async () => {
    await expect(platform.cli('notes', 'list')).resolves.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('exactly one'),
    });
    await expect(platform.cli('notes', 'list', '--person', '0')).resolves.toMatchObject({ code: 2 });
    await expect(platform.cli('notes', 'list', '--person', 'x', '--json')).resolves.toMatchObject({
      code: 2,
      stderr: '',
    });
  });
});
