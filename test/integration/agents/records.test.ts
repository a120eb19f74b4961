import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rawJson, newContext } from '#libs/infrastructure/nats';
import { agents } from '#services/agents';
import { failureOf, type AgentFixture, startAgentFixture } from './fixture.ts';

const { applyWorkspace, forgetThreads, getAgent, getRecord } = agents.rpcs;

describe('agent records', () => {
  let fixture: AgentFixture;
  beforeAll(async () => {
    fixture = await startAgentFixture(import.meta.url);
  });
  afterAll(() => fixture.stop());
  const context = () => newContext();
  const text = async (slug: string): Promise<string> => {
    const reply = await fixture.bus.callRaw(getAgent, { slug }, context());
    return reply.kind === 'bytes' ? Buffer.from(reply.bytes).toString('utf8') : '';
  };

  describe('agents.workspace.apply (rules/workspace#workspace-file; D33e)', () => {
    const guide = {
      slug: 'guide',
      name: 'Guide',
      prompt: 'You are the guide.',
      infos: { color: 'blue' },
      config: { messaging: { bot_token: '12:abc', webhook_secret: 's3cret-of-24-characters_', echo_channel: '-100' } },
    };

    it('previews changes in a dry run, applies the file, and reports no changes when it is applied again', async () => {
      const dry = await fixture.apply([guide], true);
      expect(dry).toMatchObject({
        created: 1,
        updated: 0,
        unchanged: 0,
        ids: { agents: {} },
        diff: [{ key: 'guide', action: 'create' }],
      });
      await expect(fixture.env.sql(`select 1 as one from agents.agents`)).resolves.toEqual([]);
      const applied = await fixture.apply([guide]);
      expect(applied).toMatchObject({ created: 1, ids: { agents: { guide: expect.any(Number) } } });
      const again = await fixture.apply([guide]);
      expect(again).toEqual({ created: 0, updated: 0, unchanged: 1, ids: applied.ids, diff: [] });
    });

    it('updates only changed fields of an agent, and never returns secrets', async () => {
      const changed = {
        slug: 'guide',
        name: 'Guide',
        config: { messaging: { bot_token: '34:def', webhook_secret: 's3cret-of-24-characters_' } },
      };
      const dry = await fixture.apply([changed], true);
      expect(dry.diff).toEqual([
        {
          list: 'agents',
          key: 'guide',
          action: 'update',
          fields: [{ field: 'config', old: '(hidden)', new: '(hidden)' }],
        },
      ]);
      expect(JSON.stringify([dry, await fixture.apply([changed])])).not.toMatch(/34:def|12:abc|s3cret/);
      await expect(
        fixture.env.sql(`select prompt, config->'messaging'->>'bot_token' as token from agents.agents`),
      ).resolves.toEqual([{ prompt: 'You are the guide.', token: '34:def' }]);
    });

    it('clears prompt and infos of an agent with null', async () => {
      await fixture.apply([{ slug: 'bare', name: 'Bare', prompt: null, infos: null, config: null }]);
      expect(JSON.parse(await text('bare'))).toEqual({ slug: 'bare', name: 'Bare', prompt: '', infos: {} });
    });

    it('reports every problem of the agents in a file and changes nothing', async () => {
      const error = await failureOf(
        fixture.apply([
          { slug: 'fine', name: 'Fine' },
          { slug: 'not a slug', name: '' },
          { name: 5, prompts: 'x', infos: [] },
          'nonsense',
          { slug: 'fine', name: 'Again' },
          { slug: 'm', name: 'M', config: { messaging: { bot_token: 7 } } },
        ]),
      );
      expect(error.reason).toBe('invalid_workspace');
      const problems = error.details['problems'] as { path: (string | number)[]; message: string }[];
      expect(problems.map((problem) => problem.path.join('.')).toSorted()).toEqual(
        [
          '1.name',
          '1.slug',
          '2',
          '2.infos',
          '2.name',
          '2.prompts',
          '3',
          '4.slug',
          '5.config.messaging.bot_token',
        ].toSorted(),
      );
      await expect(fixture.env.sql(`select 1 as one from agents.agents where slug = 'fine'`)).resolves.toEqual([]);
    });

    it('rejects a bot with a missing or guessable webhook secret (D64)', async () => {
      const bot = (webhook_secret?: string | null) => ({
        slug: 'bot',
        name: 'Bot',
        config: { messaging: { bot_token: '1:x', webhook_secret } },
      });
      for (const secret of [
        undefined,
        null,
        '',
        'x'.repeat(23),
        'x'.repeat(257),
        `${'x'.repeat(24)} `,
        'ü'.repeat(30),
      ]) {
        const error = await failureOf(fixture.apply([{ slug: 'fellow', name: 'Fellow' }, bot(secret)]));
        const [problem] = error.details['problems'] as { path: (string | number)[]; message: string }[];
        expect([error.reason, problem?.path, problem?.message]).toEqual([
          'invalid_workspace',
          [1, 'config', 'messaging', 'webhook_secret'],
          expect.stringContaining('openssl rand'),
        ]);
      }
      await expect(
        fixture.env.sql(`select 1 as one from agents.agents where slug in ('bot', 'fellow')`),
      ).resolves.toEqual([]);
      for (const secret of ['x'.repeat(24), 'A-Za-z0-9_'.repeat(25)])
        await expect(fixture.apply([bot(secret)], true)).resolves.toMatchObject({ created: 1 });
      const muted = { slug: 'muted', name: 'Muted', config: { messaging: { bot_token: '', echo_channel: '-1' } } };
      await expect(fixture.apply([muted], true)).resolves.toMatchObject({ created: 1 });
    });

    it('creates one agent when the same file is applied concurrently', async () => {
      const results = await Promise.all(
        Array.from({ length: 8 }, () => fixture.apply([{ slug: 'parallel', name: 'P' }])),
      );
      expect(results.reduce((sum, result) => sum + result.created, 0)).toBe(1);
      expect(new Set(results.map((result) => result.ids.agents['parallel'])).size).toBe(1);
    });
  });

  describe('agents.agents.get (rules/agents#agents)', () => {
    it('returns slug, name, prompt and infos of an agent with exact numbers, without configuration', async () => {
      const document =
        '{"agents":[{"slug":"big","name":"Big \\"ü\\"","infos":{"n":12345678901234567890,"__proto__":{"x":1}},"config":{"k":"hush"}}],"dry_run":false}';
      await fixture.bus.callRaw(applyWorkspace, rawJson(document), context());
      const json = await text('big');
      expect(json).toContain('12345678901234567890');
      expect(json).toContain('__proto__');
      expect(json).not.toContain('hush');
      expect(Object.keys(JSON.parse(json) as object)).toEqual(['slug', 'name', 'prompt', 'infos']);
    });

    it('returns 404 for an unknown agent slug', async () => {
      for (const slug of ['nobody', '', 'GUIDE', 'a\0b']) {
        expect((await failureOf(fixture.bus.callRaw(getAgent, { slug }, context()))).toBody()).toEqual({
          code: 'not_found',
          message: 'Not Found',
        });
      }
    });
  });

  describe('agents.record.get and agents.record.forget (admin CLI, agents record and agents forget)', () => {
    it('returns threads with their messages, and deletes one thread or all threads', async () => {
      await fixture.apply([
        { slug: 'kept', name: 'Kept' },
        { slug: 'forgetful', name: 'F' },
      ]);
      await fixture.say('Stay', { slug: 'kept' });
      const first = await fixture.say('One', { slug: 'forgetful' });
      await fixture.say('Two', { slug: 'forgetful', visitor_id: first.visitor_id });
      await fixture.say('Elsewhere', { slug: 'forgetful' });
      const record = await fixture.call(getRecord, { slug: 'forgetful' });
      expect(record.threads.map((thread) => thread.messages.map((message) => message.note_type))).toEqual([
        ['chat_visitor', 'chat_agent', 'chat_visitor', 'chat_agent'],
        ['chat_visitor', 'chat_agent'],
      ]);
      expect(record.threads[0]).toMatchObject({
        thread_key: first.thread_key,
        messages: [{ body: 'One' }, {}, { body: 'Two' }, {}],
      });

      const one = await fixture.call(forgetThreads, { slug: 'forgetful', thread_key: first.thread_key });
      expect(one).toEqual({ threads: 1, messages: 4, facts: 0 });
      expect((await fixture.say('Hello', { slug: 'forgetful', visitor_id: first.visitor_id })).visitor_id).not.toBe(
        first.visitor_id,
      );
      await expect(fixture.call(forgetThreads, { slug: 'forgetful', all: true })).resolves.toEqual({
        threads: 2,
        messages: 4,
        facts: 0,
      });
      await expect(fixture.recorded('forgetful')).resolves.toEqual([]);
      await expect(fixture.recorded('kept')).resolves.toHaveLength(2);
    });

    it('returns agent_not_found for an unknown agent', async () => {
      expect((await failureOf(fixture.call(getRecord, { slug: 'nobody' }))).reason).toBe('agent_not_found');
      expect((await failureOf(fixture.call(forgetThreads, { slug: 'nobody', all: true }))).reason).toBe(
        'agent_not_found',
      );
    });
  });
});
