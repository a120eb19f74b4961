/**
 * A small set of directory data for writes through the API: callers with edit rights, classes with custom fields, and
 * journeys.
 */
import type { Actor } from '#libs/infrastructure/contract';
import { startDirectoryFixture, type DirectoryFixture } from './fixture.ts';

export interface EditFixture {
  readonly directory: DirectoryFixture;
  /** Ids by slug or key. */
  readonly holons: Readonly<Record<string, number>>;
  readonly people: Readonly<Record<string, number>>;
  readonly journeys: Readonly<Record<string, number>>;
  readonly spheres: Readonly<Record<string, number>>;
  /** A caller with edit rights for everything. */
  readonly editor: Actor;
  /** A caller with edit rights for the camp and its descendants. */
  readonly host: Actor;
  /** A caller without edit rights. */
  readonly guest: Actor;
}

const fields = [
  { key: 'motto', type: 'text' },
  { key: 'theme', type: 'select', options: ['care', 'listening'] },
  { key: 'seats', type: 'number' },
  { key: 'story', type: 'rich_text' },
  { key: 'trailer', type: 'video' },
  { key: 'home', type: 'url' },
  { key: 'pictures', type: 'slideshow' },
];

const document = {
  spheres: [
    { key: 'health', name: 'Health' },
    { key: 'art', name: 'Art' },
    { key: 'old', name: 'Old', is_active: false },
  ],
  classes: [
    { slug: 'place', config: { info_field_groups: [{ key: 'about', label: 'About', fields }] } },
    {
      slug: 'camp',
      parent: 'place',
      journeys: ['joining'],
      allowed_children: ['place', 'walk', 'workshop', 'retired-walk'],
      config: {
        info_field_groups: [
          {
            key: 'camp',
            label: 'Camp',
            fields: [
              { key: 'motto', type: 'long_text' },
              { key: 'tents', type: 'number' },
            ],
          },
        ],
      },
    },
    { slug: 'domain', name_read_only: true },
    { slug: 'subdomain', parent: 'domain' },
    { slug: 'secret', private: true, allowed_children: ['experience'] },
    { slug: 'experience' },
    // Created before the walk, and allowed to precede it.
    { slug: 'workshop', parent: 'experience' },
    {
      slug: 'walk',
      parent: 'experience',
      config: { info_field_groups: [{ key: 'walk', label: 'Walk', fields: [{ key: 'km', type: 'number' }] }] },
    },
    { slug: 'retired-walk', parent: 'walk', is_active: false },
  ],
  journeys: [
    {
      slug: 'joining',
      name: 'Joining',
      bulk_add: false,
      steps: [{ slug: 'old', is_archived: true }, { slug: 'asked' }, { slug: 'member' }],
    },
    { slug: 'other', name: 'Other', steps: [{ slug: 'one' }] },
  ],
  people: [
    { key: 'ed', name: 'Ed' },
    { key: 'hana', name: 'Hana' },
    { key: 'gus', name: 'Gus' },
    {
      key: 'known',
      name: 'Known',
      contact: { email: ' Known@Example.org ', linkedin: 'https://www.linkedin.com/in/known/?trk=x' },
    },
    { key: 'twin', name: 'Twin', contact: { email: 'known@example.ORG' } },
  ],
  accounts: [
    { email: 'ed@example.org', person: 'ed', global_editor: true },
    { email: 'hana@example.org', person: 'hana', teams: [{ holon: 'summer', active: true }] },
    { email: 'gus@example.org', person: 'gus', teams: [{ holon: 'summer', active: false }] },
  ],
  holons: [
    { slug: 'root', name: 'Root', class: 'place', links: { site: 'https://a.org' }, journeys: ['other'] },
    { slug: 'summer', name: 'Summer', class: 'camp', parent: 'root' },
    { slug: 'tent', name: 'Tent', class: 'place', parent: 'summer' },
    { slug: 'law', name: 'Law', class: 'subdomain' },
    { slug: 'hidden', name: 'Hidden', class: 'secret' },
    { slug: 'hike', name: 'Hike', class: 'walk', parent: 'summer' },
    { slug: 'taken', name: 'Taken', class: 'place' },
  ],
};

export async function startEditFixture(fileUrl: string): Promise<EditFixture> {
  const fixture = await startDirectoryFixture(fileUrl);
  const { ids } = await fixture.apply(document);
  const actor = (email: string, person: string, globalEditor: boolean): Actor => ({
    kind: 'user',
    accountId: ids['accounts']?.[email] ?? 0,
    personId: ids['people']?.[person] ?? 0,
    superuser: false,
    globalEditor,
    coherenceAccess: false,
  });
  return {
    directory: fixture,
    holons: ids['holons'] ?? {},
    people: ids['people'] ?? {},
    journeys: ids['journeys'] ?? {},
    spheres: ids['spheres'] ?? {},
    editor: actor('ed@example.org', 'ed', true),
    host: actor('hana@example.org', 'hana', false),
    guest: actor('gus@example.org', 'gus', false),
  };
}
