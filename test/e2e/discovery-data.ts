/** A tree of public and private holons with conversations at each level, for search and browse. */
import { applyDemo } from './test-platform.ts';
import type { Demo, TestPlatform } from './test-platform.ts';

export interface Place {
  demo: Demo;
  /** Ids of holons by slug. */
  holons: Record<string, number>;
  /** Ids of journeys by slug. */
  journeys: Record<string, number>;
  /** Creates a conversation; returns its id. */
  put(values: Conversation): Promise<number>;
  /** `member` has authority over `guild`, which is above the private event `closed`. */
  tokens: { member: string; stranger: string; root: string };
}

export interface Conversation {
  event?: string;
  journey?: string;
  start?: string | null;
  participants?: number[];
  connected?: string[];
  infos?: unknown;
}

const journey = {
  svc_app: 'coherence',
  object_kind: 'holon',
  applies_to: 'event',
  is_conversation: true,
  texts: {},
  questions: [],
};
const steps = [{ slug: 'held', title: 'Held' }];

/**
 * Creates the tree. `guild` (group) has the events `alpha` and `closed` (private) and the group `circle`, whose event
 * is `beta`; `secret` is a private group. `alpha` has the journeys `talk-b`, `talk-a` and `chores` (without
 * conversations), `beta` has `talk-a`.
 */
export async function prepareDiscovery(platform: TestPlatform, tag: string): Promise<Place> {
  const demo = await applyDemo(platform, tag);
  const { ids } = await platform.apply({
    classes: [
      { slug: 'group', object_kind: 'holon', parent: null, label: 'Group', plural_label: 'Groups' },
      {
        slug: 'closed-event',
        object_kind: 'holon',
        parent: null,
        label: 'Closed',
        plural_label: 'Closed',
        conversation_event: true,
        private: true,
      },
      {
        slug: 'secret-group',
        object_kind: 'holon',
        parent: null,
        label: 'Secret',
        plural_label: 'Secret',
        private: true,
      },
    ],
    journeys: [
      { ...journey, slug: 'talk-a', name: 'Talk A', description: 'First', texts: { welcome: 'Hi' }, steps },
      { ...journey, slug: 'talk-b', name: 'Talk B', steps },
      { ...journey, slug: 'talk-c', name: 'Talk C', steps },
      { ...journey, slug: 'chores', name: 'Chores', is_conversation: false, steps },
    ],
    holons: [
      { slug: 'guild', name: 'Guild', class: 'group', parent: null },
      { slug: 'circle', name: 'Circle', class: 'group', parent: 'guild' },
      { slug: 'secret', name: 'Secret', class: 'secret-group', parent: null },
      { slug: 'alpha', name: 'Zeta', class: 'event', parent: 'guild', journeys: ['talk-b', 'chores', 'talk-a'] },
      { slug: 'bare', name: 'Bare', class: 'event', parent: 'guild' },
      { slug: 'beta', name: 'Beta', class: 'event', parent: 'circle', journeys: ['talk-a'] },
      { slug: 'closed', name: 'Closed', class: 'closed-event', parent: 'guild', journeys: ['talk-a'] },
    ],
    accounts: [
      {
        email: `member-${tag}@example.org`,
        person: `ada-${tag}`,
        password: `secret-of-member-${tag}`,
        teams: [{ holon: 'guild', active: true }],
      },
    ],
  });
  const holons = ids['holons'] ?? {};
  const journeys = ids['journeys'] ?? {};
  const login = (name: string): Promise<string> =>
    platform.login(`${name}-${tag}@example.org`, `secret-of-${name}-${tag}`);
  return {
    demo,
    holons,
    journeys,
    tokens: { member: await login('member'), stranger: await login('ben'), root: await login('root') },
    put: async ({ event, journey: slug, start = null, participants = [], connected = [], infos = {} }) => {
      const [row] = await platform.sql<{ id: number }>(
        `insert into conversations.conversations (event_id, journey_id, step_id, start_at, participant_ids, connected_ids, infos)
         values ($1, $2, (select id from directory.journey_steps where journey_id = $2 order by position limit 1), $3, $4, $5, $6) returning id`,
        [
          event === undefined ? null : holons[event],
          slug === undefined ? null : journeys[slug],
          start,
          participants,
          connected.map((name) => holons[name] ?? 0),
          JSON.stringify(infos),
        ],
      );
      return row?.id ?? 0;
    },
  };
}
