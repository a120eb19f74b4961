/** A workspace file that contains every type of object, and a function that reads its effect. */
import { parseJson } from '#libs/infrastructure/json';
import type { DirectoryFixture } from './fixture.ts';

export const document = {
  spheres: [{ key: 'health', name: 'Health' }],
  classes: [
    { slug: 'group', label: 'Group', plural_label: 'Groups', allowed_children: ['event'] },
    {
      slug: 'event',
      parent: 'group',
      label: 'Event',
      conversation_event: true,
      name_read_only: true,
      journeys: ['open-circle'],
      config: {
        info_field_groups: [
          { key: 'about', label: 'About', fields: [{ key: 'theme', type: 'select', label: 'Theme', options: ['a'] }] },
        ],
      },
    },
    { slug: 'retreat', parent: 'event', private: true },
  ],
  journeys: [
    {
      slug: 'open-circle',
      name: 'Open circle',
      svc_app: 'coherence',
      applies_to: 'event',
      is_conversation: true,
      texts: { welcome: 'Hello' },
      questions: [{ text: 'What matters now?' }, { text: 'What next?' }],
      steps: [
        { slug: 'held', title: 'Held' },
        { slug: 'import', title: 'Import', pipeline_job: 'transcript_import', config: { advance_on_success: true } },
      ],
    },
    { slug: 'empty', name: 'Empty', steps: [] },
  ],
  people: [
    { key: 'ada', name: 'Ada', contact: { email: 'Ada@example.org' }, infos: parseJson('{"big": 9007199254740993}') },
    { key: 'ben', name: 'Ben' },
  ],
  holons: [
    {
      slug: 'spring',
      name: 'Spring',
      class: 'event',
      parent: 'host',
      journeys: ['open-circle'],
      spheres: ['health'],
      locations: ['de'],
    },
    { slug: 'host', name: 'Host', class: 'group', parent: null, links: { site: 'https://example.org' } },
  ],
  accounts: [
    {
      email: 'ada@example.org',
      person: 'ada',
      password: 'the very first one',
      groups: ['coherence_users'],
      teams: [{ holon: 'spring' }],
    },
  ],
  memberships: [
    { person: 'ada', holon: 'spring', journey: 'open-circle', follow_up_after: '2026-06-01', responsible: 'ben' },
  ],
  relationships: [{ key: 'r1', from: 'spring', to: 'host', journey: 'open-circle', step: 'import' }],
};

/** Returns, as text, every directory row that a workspace file can change. */
export async function snapshot(fixture: DirectoryFixture): Promise<unknown> {
  const tables = [
    'people',
    'accounts',
    'holons',
    'journeys',
    'journey_steps',
    'journey_questions',
    'memberships',
    'relationships',
    'object_classes',
    'holon_journeys',
  ];
  return Promise.all(
    tables.map((table) =>
      fixture.env.sql(`select (to_jsonb(t) - 'updated_at')::text as row from directory.${table} t order by 1`),
    ),
  );
}
