/** A platform on which only members can read conversations (D69), and the data of the attackers and readers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Applied, TestPlatform } from '../e2e/test-platform.ts';
import { startTarget } from './attacker.ts';

export type Person = 'ada' | 'ben' | 'carl' | 'dora' | 'gina' | 'eve';

export interface Circle {
  readonly platform: TestPlatform;
  /** Ids by key. */
  readonly people: Readonly<Record<string, number>>;
  /**
   * Tokens of the people: Ada has coherence access, Ben takes part in the conversations, Dora leads the host of
   * `spring`, Gina can edit everything, Eve is a superuser, and Carl leads `autumn` only.
   */
  readonly tokens: Readonly<Record<Person, string>>;
  /** Returns the account entry of a workspace file with these rights. */
  account(key: string, rights?: object): object;
  /**
   * Creates a conversation of Ben in `spring` with transcript, audio and recording. All its readable texts contain the
   * text `said`.
   */
  createRich(said: string): Promise<number>;
  stop(): Promise<void>;
}

const services = ['api-gateway', 'conversations', 'directory', 'media', 'transcripts'];

const person = (key: string) => ({ key, name: `${key} of the circle`, contact: { email: `${key}@example.org` } });
const account = (key: string, rights = {}) => ({
  email: `${key}@example.org`,
  person: key,
  password: `secret-of-${key}-long-enough`,
  ...rights,
});
const journey = (slug: string) => ({
  slug,
  name: slug,
  description: '',
  svc_app: 'coherence',
  object_kind: 'holon',
  applies_to: 'event',
  is_conversation: true,
  questions: [{ text: 'What matters now?' }],
  steps: [{ slug: 'held', title: 'Held' }],
});
const workspace = {
  classes: [
    {
      slug: 'group',
      object_kind: 'holon',
      parent: null,
      label: 'Group',
      plural_label: 'Groups',
      allowed_children: ['event'],
    },
    {
      slug: 'event',
      object_kind: 'holon',
      parent: null,
      label: 'Event',
      plural_label: 'Events',
      conversation_event: true,
    },
  ],
  journeys: ['circle', 'other'].map(journey),
  people: ['ada', 'ben', 'carl', 'dora', 'gina', 'eve'].map(person),
  accounts: [
    account('ada', { groups: ['coherence_users'] }),
    account('ben'),
    account('carl', { teams: [{ holon: 'autumn', active: true }] }),
    account('dora', { teams: [{ holon: 'host', active: true }] }),
    account('gina', { global_editor: true }),
    account('eve', { superuser: true }),
  ],
  holons: [
    { slug: 'host', name: 'Host', class: 'group', parent: null },
    { slug: 'spring', name: 'Spring', class: 'event', parent: 'host', journeys: ['circle'] },
    { slug: 'autumn', name: 'Autumn', class: 'event', parent: null, journeys: ['other'] },
  ],
};

export async function startCircle(url: string): Promise<Circle> {
  const platform = await startTarget(url, { CONVERSATION_ACCESS: 'members' }, { services });
  const folder = mkdtempSync(join(tmpdir(), 'circle-'));
  const people = (await platform.apply(workspace)).ids['people'] ?? {};
  const login = (key: string): Promise<string> => platform.login(`${key}@example.org`, `secret-of-${key}-long-enough`);
  const [ada, ben, carl, dora, gina, eve] = await Promise.all([
    login('ada'),
    login('ben'),
    login('carl'),
    login('dora'),
    login('gina'),
    login('eve'),
  ]);
  let count = 0;
  return {
    platform,
    people,
    tokens: { ada, ben, carl, dora, gina, eve },
    account,
    createRich: async (said) => {
      const key = `rich-${++count}`;
      for (const name of ['talk.mp3', 'film.mp4']) writeFileSync(join(folder, name), `${said} ${name}`);
      const conversation = {
        key,
        journey: 'circle',
        step: 'held',
        event: 'spring',
        start: new Date(Date.UTC(2030, 0, count, 10)).toISOString(),
        finish: new Date(Date.UTC(2030, 0, count, 11)).toISOString(),
        participants: ['ben'],
        connected: ['autumn'],
        infos: { publishing: { fields: { title: said } } },
        config: { 'enter-coherence': { phase: said } },
        audio: './talk.mp3',
        recording: { full: './film.mp4' },
        transcript: [{ start_ms: 0, end_ms: 900, person: 'ben', text: said }],
      };
      const file = join(folder, `${key}.json`);
      writeFileSync(file, JSON.stringify({ conversations: [conversation] }));
      const { ids } = (await platform.ask('workspace', 'apply', file)) as Applied;
      return ids['conversations']?.[key] ?? 0;
    },
    stop: async () => {
      rmSync(folder, { recursive: true, force: true });
      await platform.stop();
    },
  };
}
