/** Calls of the operations on agents, classes, journeys, steps, questions and spheres that a superuser makes (W5, W6, W15). */
import { agents } from '#services/agents';
import { directory } from '#services/directory';
import { type Act, type AuditFixture, newest, type Row } from './fixture.ts';

/** Creates what the call needs, and returns the call. */
type SetupRow = (fixture: AuditFixture) => Promise<Pick<Act, 'request' | 'target'>>;

const ofAgent =
  (more: object = {}): SetupRow =>
  async ({ call, newName, root }) => {
    const slug = newName();
    await call(agents.rpcs.createAgent, { slug, name: 'Agent' }, root);
    return { request: { slug, ...more }, target: { type: 'agent', id: slug } };
  };

const ofClass =
  (more: object = {}): SetupRow =>
  async ({ call, newName, one, root }) => {
    const slug = newName();
    await call(directory.rpcs.createClass, { slug }, root);
    const id = await one('select id from directory.object_classes where slug = $1', [slug]);
    return { request: { object_kind: 'holon', slug, ...more }, target: { type: 'class', id } };
  };

/** Creates a journey with a step and a question, and returns its slug. */
async function newJourney({ call, newName, root }: AuditFixture): Promise<string> {
  const slug = newName();
  const steps = [{ slug: 'first', title: 'First' }];
  await call(directory.rpcs.createJourney, { slug, name: 'Journey', steps, questions: [{ text: 'Why?' }] }, root);
  return slug;
}

/** A call that adds a step or a question to a new journey. */
const intoJourney =
  (type: 'step' | 'question', more: object): SetupRow =>
  async (fixture) => ({ request: { journey_slug: await newJourney(fixture), ...more }, target: newest(type) });

const journeyIds = {
  journey: 'select id from directory.journeys where slug = $1',
  step: 'select s.id from directory.journey_steps s join directory.journeys j on j.id = s.journey_id where j.slug = $1',
  question:
    'select q.id from directory.journey_questions q join directory.journeys j on j.id = q.journey_id where j.slug = $1',
};

/** A call on a new journey, or on its step or question. */
const ofJourney =
  (type: keyof typeof journeyIds, requestOf: (id: number) => object = () => ({})): SetupRow =>
  async (fixture) => {
    const slug = await newJourney(fixture);
    const id = await fixture.one(journeyIds[type], [slug]);
    return { request: { journey_slug: slug, ...requestOf(id) }, target: { type, id } };
  };

const rows: Record<string, SetupRow> = {
  'agents.setup.create': async ({ newName }) => {
    const slug = newName();
    return { request: { slug, name: 'Agent' }, target: { type: 'agent', id: slug } };
  },
  'agents.setup.update': ofAgent({ name: 'Other' }),
  'agents.setup.delete': ofAgent(),
  'directory.classes.create': async ({ newName }) => ({ request: { slug: newName() }, target: newest('class') }),
  'directory.classes.update': ofClass({ label: 'Other' }),
  'directory.classes.delete': ofClass(),
  'directory.journeys.create': async ({ newName }) => ({
    request: { slug: newName(), name: 'Journey' },
    target: newest('journey'),
  }),
  'directory.journeys.update': ofJourney('journey', () => ({ name: 'Other' })),
  'directory.journeys.delete': ofJourney('journey'),
  'directory.steps.create': intoJourney('step', { slug: 'second', title: 'Second' }),
  'directory.steps.update': ofJourney('step', () => ({ step_slug: 'first', title: 'Other' })),
  'directory.steps.delete': ofJourney('step', () => ({ step_slug: 'first' })),
  'directory.questions.create': intoJourney('question', { text: 'When?' }),
  'directory.questions.update': ofJourney('question', (id) => ({ question_id: id, text: 'Who?' })),
  'directory.spheres.create': async ({ newName }) => ({ request: { name: newName() }, target: newest('sphere') }),
  'directory.spheres.update': async ({ call, newName, root }) => {
    const { sphere } = await call(directory.rpcs.createSphere, { name: newName() }, root);
    return { request: { sphere_id: sphere.id, is_active: false }, target: { type: 'sphere', id: sphere.id } };
  },
};

/** Returns the rows of the operations; `fixture` is called when a row is used. */
export function createSetupRows(fixture: () => AuditFixture): Record<string, Row> {
  return Object.fromEntries(
    Object.entries(rows).map(([subject, row]) => [
      subject,
      async () => ({ ...(await row(fixture())), actor: fixture().root }),
    ]),
  );
}
