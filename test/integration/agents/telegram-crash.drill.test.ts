/**
 * Many chats while processes of the service are killed. TELEGRAM_CHATS, TELEGRAM_MESSAGES and TELEGRAM_KILLS set the
 * size; TELEGRAM_REPORT prints measurements.
 */
import { randomInt } from 'node:crypto';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { agents } from '#services/agents';
import { sized } from '../../drill.ts';
import { webhookSecret } from './telegram-fixture.ts';
import { connectBus, newContext } from '#libs/infrastructure/nats';
import {
  createTestEnvironment,
  type LlmServer,
  type ScriptProcess,
  startLlm,
  startPlatform,
  startScriptProcess,
  startTelegram,
  type TelegramServer,
  type TestEnvironment,
  waitFor,
} from '#libs/product/testing';

const size = (name: string, usual: number): number => Number(process.env[name] ?? usual);
const chats = size('TELEGRAM_CHATS', sized({ smoke: 12, release: 40 }));
const perChat = size('TELEGRAM_MESSAGES', sized({ smoke: 3, release: 5 }));
const kills = size('TELEGRAM_KILLS', sized({ smoke: 1, release: 3 }));
const replicas = 2;
const limitMs = 120_000 + chats * perChat * 100;

let env: TestEnvironment;
let llm: LlmServer;
let telegram: TelegramServer;
let hook: string;
let settings: Record<string, string>;

beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  llm = await startLlm();
  telegram = await startTelegram();
  env.onStop(async () => {
    await llm.stop();
    await telegram.stop();
  });
  settings = {
    ...env.settings,
    LLM_BASE_URL: llm.baseUrl,
    LLM_API_KEY: llm.apiKey,
    TELEGRAM_API_ROOT: telegram.apiRoot,
    MEMORY_DELAY_MS: '3600000',
    DATABASE_POOL_SIZE: '10',
  };
  const gateway = await startPlatform(env, { processes: true, services: ['api-gateway'] });
  hook = `${gateway.baseUrl}/api/hook/agents/guide`;
  llm.answerWith((messages) => `re: ${messages.at(-1)?.content}`);
});
afterAll(() => env.stop());

async function startAgents(): Promise<ScriptProcess> {
  const child = startScriptProcess(join(import.meta.dirname, 'agents-process.ts'), settings);
  env.onStop(async () => {
    child.signal('SIGKILL');
    await child.ended;
  });
  const isReady = (): boolean => child.messages.some((message) => (message as { ready?: true }).ready === true);
  await waitFor(isReady, { timeoutMs: limitMs, what: 'a started process' });
  return child;
}

/** Sends an update as Telegram does; returns the response time. */
function post(update: object): Promise<number> {
  const body = JSON.stringify(update);
  return new Promise((resolve, reject) => {
    const startedMs = performance.now();
    const outgoing = request(hook, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'x-telegram-bot-api-secret-token': webhookSecret,
      },
    });
    outgoing.once('error', reject);
    outgoing.once('response', (response) => {
      response.resume();
      response.once('end', () =>
        response.statusCode === 200
          ? resolve(performance.now() - startedMs)
          : reject(new Error(`status ${response.statusCode}`)),
      );
    });
    outgoing.end(body);
  });
}

describe(`${chats} chats with ${perChat} messages each, and ${kills} kills of a process (D32, D33b)`, () => {
  it(
    'replies to every message once and in order, and reports sends interrupted by a kill in receipts',
    async () => {
      const running = await Promise.all(Array.from({ length: replicas }, startAgents));
      const bus = await connectBus({
        url: settings['NATS_URL'] ?? '',
        prefix: settings['NATS_SUBJECT_PREFIX'],
        name: 'admin',
        logger: env.logger,
      });
      env.onStop(() => bus.close());
      const guide = {
        slug: 'guide',
        name: 'Guide',
        prompt: 'x',
        config: { messaging: { bot_token: '1:t', webhook_secret: webhookSecret } },
      };
      await bus.call(agents.rpcs.applyWorkspace, { agents: [guide], dry_run: false }, newContext());

      const durationsMs: number[] = [];
      const startedMs = performance.now();
      let updateId = 1;
      const writeIn = async (chat: number): Promise<void> => {
        for (let index = 0; index < perChat; index++) {
          const message = {
            message_id: index + 1,
            date: 1,
            from: { id: chat, is_bot: false },
            chat: { id: chat, type: 'private' },
            text: `${chat}/${index}`,
          };
          durationsMs.push(await post({ update_id: updateId++, message }));
        }
      };
      const settledCount = async (): Promise<number> =>
        Number(
          (
            await env.sql<{ n: number }>(
              `select count(*)::int as n from agents.webhook_receipts where outcome not in ('pending', 'answering')`,
            )
          )[0]?.n,
        );
      const killSome = async (): Promise<void> => {
        for (let kill = 0; kill < kills; kill++) {
          const goal = ((kill + 1) * chats * perChat) / (kills + 2);
          await waitFor(async () => (await settledCount()) >= goal, { timeoutMs: limitMs, intervalMs: 50 });
          await sleep(randomInt(200));
          const replica = randomInt(replicas);
          running[replica]?.signal('SIGKILL');
          await running[replica]?.ended;
          running[replica] = await startAgents();
        }
      };
      const killing = killSome();
      await Promise.all(Array.from({ length: chats }, (_value, index) => writeIn(index + 1)));
      await killing;
      await waitFor(async () => (await settledCount()) === chats * perChat, {
        timeoutMs: limitMs,
        intervalMs: 200,
        what: 'the end of all updates',
      });
      const seconds = (performance.now() - startedMs) / 1000;

      const receipts = await env.sql<{ chat: number; text: string; outcome: string }>(
        `select chat_id as chat, convert_from(body, 'UTF8')::jsonb #>> '{message,text}' as text, outcome from agents.webhook_receipts order by update_id`,
      );
      const uncertain = new Set(
        receipts.filter((receipt) => receipt.outcome === 'send_unknown').map((receipt) => receipt.text),
      );
      expect(new Set(receipts.map((receipt) => receipt.outcome))).toEqual(
        new Set(['answered', ...(uncertain.size > 0 ? ['send_unknown'] : [])]),
      );
      for (let chat = 1; chat <= chats; chat++) {
        const texts = telegram.textsOf(chat).map((text) => text.replace('re: ', ''));
        const all = Array.from({ length: perChat }, (_value, index) => `${chat}/${index}`);
        const isCertain = (text: string): boolean => !uncertain.has(text);
        expect(texts.filter(isCertain)).toEqual(all.filter(isCertain));
        // A send of unknown outcome may arrive late, but not twice.
        expect(texts).toHaveLength(new Set(texts).size);
      }
      const recorded = await env.sql<{ key: string; bodies: string[] }>(
        `select t.thread_key as key, array_agg(m.body order by m.turn) as bodies from agents.threads t join agents.messages m on m.thread_id = t.id
         where m.note_type = 'chat_visitor' group by t.id`,
      );
      expect(recorded).toHaveLength(chats);
      for (const { key, bodies } of recorded) {
        const chat = key.split(':')[2];
        expect(bodies).toEqual(Array.from({ length: perChat }, (_value, index) => `${chat}/${index}`));
      }
      // Each chat sends one message at a time, so a kill makes at most one send per chat uncertain.
      expect(uncertain.size).toBeLessThanOrEqual(kills * chats);
      for (const child of running) child.signal('SIGTERM');
      await Promise.all(running.map((child) => child.ended));
      report(durationsMs, seconds, uncertain.size);
    },
    limitMs,
  );
});

function report(tookMs: number[], seconds: number, uncertain: number): void {
  if (process.env['TELEGRAM_REPORT'] === undefined) return;
  const sorted = tookMs.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
  process.stderr.write(
    `update → 200: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms; ${sorted.length} messages answered in ${seconds.toFixed(1)} s, ` +
      `${uncertain} sends of unknown outcome\n`,
  );
}
