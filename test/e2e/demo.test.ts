import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { demoValues } from '#libs/infrastructure/config';
import { startLlm, waitFor } from '#libs/product/testing';
import { listRequests } from '../../lab/cost/requests.ts';
import { startRealtimeKit } from '../../libs/product/testing/realtimekit.ts';
import { readStory } from '../../tools/generate/story.ts';
import { answerAsDemo } from '../../tools/start/demo-model.ts';
import { createTeller, isTold } from './contract/story.ts';
import { createDemoSettings, runDemo } from './run-demo.ts';
import { startTestPlatform } from './test-platform.ts';
import type { TestPlatform } from './test-platform.ts';
import { makeSilence } from './silence.ts';

const repoDir = join(import.meta.dirname, '..', '..');
/** The smallest valid upload of each kind. */
const files = {
  'open-circle.wav': makeSilence(10),
  'notes.txt': new TextEncoder().encode('not a sound'),
  'night-walk.png': Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    'base64',
  ),
};

let platform: TestPlatform;
let settings: Record<string, string>;

beforeAll(async () => {
  settings = await createDemoSettings();
  platform = await startTestPlatform(import.meta.url, settings);
  const applied = await platform.cli('workspace', 'apply', join(repoDir, 'test', 'fixtures', 'demo-workspace.yaml'));
  if (applied.code !== 0) throw new Error(applied.stderr);
});
afterAll(() => platform.stop());

describe('example requests of the documents (services/api-gateway/story)', () => {
  const steps = readStory();

  it('cover every operation of both documents', () => {
    const told = new Set(steps.map(({ operation }) => operation));
    expect(platform.recorder.operations.map(({ id }) => id).filter((id) => !told.has(id))).toEqual([]);
  });

  it('match the actual responses of a new platform with the demo workspace', async () => {
    const others = await playOthers();
    const tokens = new Map<string, string>();
    const loginAs = async (who: string): Promise<string> => {
      const token = tokens.get(who) ?? (await platform.login(`${who}@example.org`, demoValues.DEMO_PASSWORD));
      tokens.set(who, token);
      return token;
    };
    const responses: unknown[] = [];
    const documented: unknown[] = [];
    try {
      const tell = createTeller(platform, files, loginAs);
      for (const [index, step] of steps.entries()) {
        let told = await tell(step);
        if (step.eventually === true)
          await waitFor(async () => isTold((told = await tell(step)))).catch(() => undefined);
        const title = `${index + 1}. ${step.operation}`;
        if (step.operation === 'logout') tokens.delete(step.as);
        const { status, answer, expected } = told;
        const shown = step.answer === undefined ? {} : { answer };
        responses.push({ title, status, ...shown });
        documented.push({ title, ...expected });
      }
    } finally {
      await others.stop();
    }
    expect(responses).toEqual(documented);
  });

  /** Starts the language model of `npm start` and a meeting provider that returns the recorded speech. */
  async function playOthers(): Promise<{ stop(): Promise<void> }> {
    const model = await startLlm({
      port: Number(settings['DEMO_MODEL_PORT']),
      apiKey: settings['LLM_API_KEY'] ?? '',
      recordsRequests: false,
    });
    model.answerWith(answerAsDemo);
    const provider = await startRealtimeKit({
      port: Number(settings['DEMO_PROVIDER_PORT']),
      apiToken: settings['REALTIMEKIT_API_TOKEN'] ?? '',
      basePath: '',
    });
    const times = { startedAt: '2026-05-07T14:57:00Z', endedAt: '2026-05-07T16:05:00Z' };
    provider.addSession({ id: 'session-1', meetingId: 'spring-circle-1', ...times });
    const said = (minute: number, customParticipantId: string, sentence: string) => ({
      startTime: minute * 60_000,
      endTime: minute * 60_000 + 4_000,
      sentence,
      peerData: { customParticipantId, cpi: customParticipantId },
    });
    const rows = [
      said(2, 'ben-1', 'Is this thing on?'),
      said(5, 'ada-1', 'What matters to you now?'),
      said(6, 'ben-1', 'That we meet again.'),
      said(7, 'chiara-1', 'I heard more than I said.'),
    ];
    provider.setArtifact('session-1', { rows });
    return { stop: async () => void (await Promise.all([model.stop(), provider.stop()])) };
  }
});

describe('npm run demo (README)', () => {
  it.each(['first', 'second'])(
    'plays a complete conversation for the %s time',
    async () => {
      const { code, stdout, stderr } = await runDemo(platform, settings);
      expect([code, stderr]).toEqual([0, '']);
      for (const line of [
        '{"ok":true}',
        'with Ada Okafor, Ben Hartmann, Chiara Rossi, Noor Haddad',
        'complete: true',
        '"Held" → "Import the transcript"',
        'status imported',
        'the same as in the evidence',
        '# Conversation of ',
        'the import has moved the conversation to "Review"',
        'came back unchanged',
        'no language model is configured',
        'Done in ',
      ]) {
        expect(stdout).toContain(line);
      }
    },
    60_000,
  );

  it('explains the alternatives when the meeting provider cannot be simulated', async () => {
    const { code, stderr } = await runDemo(platform, { ...settings, DEMO_PROVIDER_PORT: '' });
    expect([code, stderr]).toEqual([1, expect.stringContaining('Start it without that variable')]);
  });
});

describe('requests of the cost measurement (lab/cost)', () => {
  it('return a response on every repetition', async () => {
    const model = await startLlm({
      port: Number(settings['DEMO_MODEL_PORT']),
      apiKey: settings['LLM_API_KEY'] ?? '',
      recordsRequests: false,
    });
    model.answerWith(answerAsDemo);
    try {
      const requests = Object.entries(
        await listRequests(platform.baseUrl, { ...platform.runtime.settings, ...settings }),
      );
      const failed: string[] = [];
      for (const [name, makeRequest] of requests) {
        for (let index = 0; index < 2; index++) {
          const { path, ...request } = makeRequest(index);
          const answer = await fetch(`${platform.baseUrl}${path}`, request);
          const text = await answer.text();
          if (!answer.ok) failed.push(`${name}: ${answer.status} ${text}`);
        }
      }
      expect(failed).toEqual([]);
      const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'scaling.md'), 'utf8');
      expect(requests.filter(([name]) => !page.includes(`| ${name} |`))).toEqual([]);
    } finally {
      await model.stop();
    }
  });
});
