/** Directory contents of these tests. */
const steps = [
  { slug: 'held', title: 'Held' },
  { slug: 'retired', title: 'Retired', is_archived: true },
  { slug: 'import', title: 'Import', pipeline_job: 'transcript_import', config: {} },
  { slug: 'done', title: 'Done' },
];
const journey = {
  svc_app: 'coherence',
  object_kind: 'holon',
  applies_to: 'event',
  is_conversation: true,
  description: '',
  questions: [],
  texts: {},
};

export const workspace = {
  classes: [
    {
      slug: 'event',
      object_kind: 'holon',
      label: 'Event',
      plural_label: 'Events',
      conversation_event: true,
      allowed_children: [],
    },
    { slug: 'group', object_kind: 'holon', label: 'Group', plural_label: 'Groups', allowed_children: [] },
  ],
  journeys: [
    {
      ...journey,
      slug: 'open-circle',
      name: 'Open circle',
      description: 'Talk in the round',
      texts: { welcome: 'Hello', enter: '', post: '', goodbyeURL: '' },
      questions: [{ text: 'What matters now?' }, { text: 'What next?' }],
      steps,
    },
    { ...journey, slug: 'plain', name: 'Plain', steps: [] },
    {
      ...journey,
      slug: 'straight-in',
      name: 'Straight in',
      steps: [{ slug: 'import', title: 'Import', pipeline_job: 'transcript_import', config: {} }],
    },
    { ...journey, slug: 'shared', name: 'Shared', steps: [{ slug: 'held', title: 'Held' }] },
    { ...journey, slug: 'orphan', name: 'Orphan', steps: [{ slug: 'held', title: 'Held' }] },
    {
      ...journey,
      slug: 'hosting',
      name: 'Hosting',
      is_conversation: false,
      steps: [{ slug: 'agreed', title: 'Agreed' }],
    },
  ],
  people: [
    {
      key: 'ada',
      name: 'Ada',
      photo_url: 'https://example.org/ada.png',
      contact: { email: 'ada@example.org' },
      actor_kind: 'human',
    },
    { key: 'ben', name: 'Ben', contact: { email: 'Ben@Example.org' }, actor_kind: 'human' },
    { key: 'cleo', name: 'Cleo', contact: {}, actor_kind: 'human' },
  ],
  holons: [
    { slug: 'host-org', name: 'Host', class: 'group', parent: null, links: {} },
    {
      slug: 'spring',
      name: 'Spring',
      class: 'event',
      parent: 'host-org',
      links: {},
      journeys: ['open-circle', 'plain', 'straight-in', 'shared', 'hosting'],
    },
    { slug: 'autumn', name: 'Autumn', class: 'event', parent: 'host-org', links: {}, journeys: ['shared'] },
  ],
};
