/** The feed in the admin CLI (rules/cli#admin-cli; V10). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CliOutcome, runCli, startPlatform, waitFor } from '#libs/product/testing';
import { createOperatorLogin } from '../../operator-login.ts';
import { startConversationFixture, type ConversationFixture } from '../conversations/fixture.ts';
import { createFeedReader, type FeedReader } from './reader.ts';

let fixture: ConversationFixture;
let feed: FeedReader;
let cli: (...args: string[]) => Promise<CliOutcome>;
beforeAll(async () => {
  fixture = await startConversationFixture(import.meta.url);
  const { baseUrl, cliSettings } = await startPlatform(fixture.env, { services: ['api-gateway', 'events'] });
  const login = { COHERENCE_URL: baseUrl, COHERENCE_KEY: await createOperatorLogin(fixture.env.sql)() };
  cli = (...args) => runCli(args, { ...cliSettings, ...login });
  feed = createFeedReader(fixture.bus);
  await fixture.create();
  await fixture.create();
  await waitFor(async () => (await feed.read({ types: 'conversation.step_entered' })).items.length === 2);
});
afterAll(() => fixture.stop());

describe('events tail and prune of the admin CLI (rules/cli#admin-cli; V10)', () => {
  it('events tail prints one event per line, and events prune removes old events', async () => {
    const kept = (await feed.read({ limit: 500 })).items;
    const { stdout, code } = await cli(
      'events',
      'tail',
      '--after',
      '',
      '--types',
      'conversation.created',
      '--count',
      '2',
      '--json',
    );
    expect(code).toBe(0);
    const created = kept.filter(({ type }) => type === 'conversation.created').slice(0, 2);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(created);
    expect((await cli('events', 'tail', '--types', 'nothing')).stderr).toContain('contains an unknown type');
    expect((await cli('events', 'prune', '--before', '1h')).stderr).toContain('use --yes');
    const { stdout: none } = await cli('events', 'prune', '--before', '1h', '--yes', '--json');
    expect(JSON.parse(none)).toEqual({ removed: 0 });
    const pruned = await cli('events', 'prune', '--before', '0s', '--yes');
    expect(pruned.stdout).toBe(`${kept.length} events removed.\n`);
    expect((await feed.read({ limit: 500 })).items).toEqual([]);
  });
});
