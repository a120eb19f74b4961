/** A small set of directory data for generated requests to `/api/v1/`, and the known values from it. */
import type { TestPlatform } from '../test-platform.ts';

const document = {
  spheres: [{ key: 'health', name: 'Health' }],
  classes: [
    {
      slug: 'camp',
      label: 'Camp',
      journeys: ['joining', 'helping'],
      allowed_children: ['workshop'],
      config: {
        info_field_groups: [
          {
            key: 'about',
            label: 'About',
            fields: [
              { key: 'motto', type: 'text' },
              { key: 'theme', type: 'select', options: ['care', 'listening'] },
              { key: 'seats', type: 'number' },
            ],
          },
        ],
      },
    },
    { slug: 'experience', label: 'Experience' },
    { slug: 'workshop', label: 'Workshop', parent: 'experience' },
  ],
  journeys: ['joining', 'helping', 'hosting'].map((slug) => ({
    slug,
    name: slug,
    bulk_add: true,
    steps: [
      { slug: 'asked', title: 'Asked' },
      { slug: 'agreed', title: 'Agreed' },
    ],
  })),
  people: [
    { key: 'mina', name: 'Mina Summer', contact: { email: 'mina@example.org' } },
    { key: 'noor', name: 'Noor Winter' },
  ],
  accounts: [{ email: 'mina@example.org', person: 'mina', password: 'secret-of-mina' }],
  holons: [
    { slug: 'summer', name: 'Summer', class: 'camp', journeys: ['hosting'] },
    { slug: 'winter', name: 'Winter', class: 'camp', parent: 'summer' },
    { slug: 'bread', name: 'Bread', class: 'workshop', parent: 'summer' },
  ],
  memberships: [
    {
      key: 'mina',
      person: 'mina',
      holon: 'summer',
      journey: 'joining',
      step: 'asked',
      follow_up_after: '2026-01-01',
      responsible: 'mina',
    },
    { key: 'noor', person: 'noor', holon: 'winter', journey: 'helping' },
  ],
  relationships: [{ key: 'near', from: 'summer', to: 'winter', journey: 'hosting', step: 'asked' }],
};

export async function applyNetwork(platform: TestPlatform) {
  const { ids } = await platform.apply(document);
  const idsOf = (list: string): number[] => Object.values(ids[list] ?? {});
  const [people, holons, journeys] = [idsOf('people'), idsOf('holons'), idsOf('journeys')];
  return {
    person_id: people,
    responsible: people,
    responsible_person_id: people,
    holon_id: holons,
    parent: holons,
    parent_id: holons,
    experience_id: [ids['holons']?.['bread'] ?? 0],
    membership_id: idsOf('memberships'),
    relationship_id: idsOf('relationships'),
    journey_ids: [[], journeys, journeys.slice(0, 1)],
    spheres: [[], idsOf('spheres')],
    locations: [[], ['DE'], ['AT', 'de']],
    info_fields: [{ motto: 'Rest' }, { theme: ['care'], seats: 7 }, { seats: null }],
    journey_slug: ['joining', 'helping'],
    step_slug: ['asked', 'agreed'],
    object_kind: ['holon'],
    slug: ['summer', 'bread', 'camp', 'workshop', 'joining'],
    class: ['camp', 'experience'],
    svc_class: ['workshop'],
    applies_to: ['camp'],
    follow_up_after: ['2026-02-03', '2027-01-01', null],
    follow_up: ['overdue', 'today', 'future', 'none'],
    q: ['su', 'winter', 'mi'],
    sort: ['name', 'latest', 'updated', '-name', 'follow_up_after', '-person_created'],
    type: ['person', 'camp,person', 'experience'],
    types: ['person', 'holon', 'holon,person'],
    when: ['overdue', 'today,future'],
    note: ['Met again.'],
  };
}
