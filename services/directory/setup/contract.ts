/** Operations on classes, journeys, their steps and their questions (W5, W12 to W14, W16). */
import { byUsers, nullable, rpc, rowId, singleLine, type Static, Type } from '#libs/infrastructure/contract';
import { FieldChange } from '#libs/product/history';
import {
  extend,
  ifMatch,
  limitParameter,
  maxDescriptionLength,
  maxNameLength,
  v1Errors,
} from '../api-objects/contract.ts';
import { ObjectClassPublic } from '../classes/contract.ts';
import { Journey, JourneyStepItem } from '../journeys/contract.ts';

/** Maximum steps or questions of a journey, archived ones included. */
export const maxItems = 1_000;

const slug = (description: string) => singleLine({ maxLength: 200, description });
const name = (description: string) => singleLine({ maxLength: maxNameLength, description });
const text = (description: string) => Type.String({ maxLength: maxDescriptionLength, description });
const flag = (description: string) => Type.Boolean({ description });
const slugs = (description: string) => Type.Array(slug('A slug.'), { maxItems, description });
const newSlug = slug('Letters, digits, `-`, `_`, `.` and `~`.');
const position = Type.Integer({
  minimum: 0,
  maximum: 2_147_483_647,
  description: 'Position from 0, archived ones included. Default, and beyond the last position: last.',
});
/** A body of optional fields. */
const optional = <Fields extends Parameters<typeof Type.Object>[0]>(fields: Fields) =>
  Type.Partial(Type.Object(fields));

const classFields = {
  parent: nullable(slug('Slug of the parent class; null: none.')),
  label: name('Label in the singular. Default: the slug.'),
  plural_label: name('Label in the plural. Default: the label.'),
  description: text('Help text for selecting a class.'),
  sort_order: Type.Integer({ minimum: -2_147_483_647, maximum: 2_147_483_647, description: 'Position in lists.' }),
  is_system: flag('Provided by the platform.'),
  is_active: flag('Default true. False retires the class: its holons remain, but new ones cannot have it.'),
  icon_url: nullable(Type.String({ maxLength: 2_000, description: 'URL of an icon: a path or an http(s) link.' })),
  conversation_event: flag('Its holons are conversation events.'),
  private: flag('Its holons are visible only to accounts with team authority and global editors.'),
  name_read_only: flag('The API rejects changes of the name.'),
  allowed_children: slugs('Slugs of classes of direct children. Replaces the list.'),
  journeys: slugs('Slugs of journeys of its holons, in order. Replaces the list.'),
  config: Type.Object(
    {},
    {
      additionalProperties: true,
      maxProperties: 1_000,
      description: '`info_field_groups` and other keys. Merged per key; null removes a key.',
    },
  ),
};

const stepFields = {
  title: name('Display name.'),
  goal: text('Goal of the step.'),
  success_criteria: text('Criteria for its completion.'),
  starter_message: text('Suggested first message.'),
  is_archived: flag('Archived steps cannot be the target of a move.'),
  pipeline_job: nullable(slug('Job that starts when a conversation enters the step; null: none.')),
};

const questionText = Type.String({ maxLength: maxNameLength, description: 'Text of the question. Must not be blank.' });
const isArchivedQuestion = flag('Archived questions are not displayed in conversations.');

const journeyFields = {
  name: name('Display name.'),
  description: text('Purpose of the journey.'),
  svc_app: singleLine({ maxLength: maxNameLength, description: 'Application that displays the journey.' }),
  object_kind: slug('Kind of its objects. Default: `holon`.'),
  applies_to: nullable(slug('Class of its holons; null: none.')),
  is_conversation: flag('Conversations use this journey.'),
  public_visible: flag('Visible to all callers with a token.'),
  bulk_add: flag('Allows adding many people at once.'),
  texts: Type.Object(
    {},
    {
      additionalProperties: true,
      maxProperties: 1_000,
      description: 'Page texts, e.g. `welcome`; `goodbyeURL` is an http(s) link. Replaces all texts.',
    },
  ),
};

export const newClass = Type.Object(
  {
    slug: newSlug,
    object_kind: Type.Optional(slug('Default: `holon`.')),
    ...optional(classFields).properties,
  },
  { $id: 'ClassCreate' },
);
export const classUpdate = Type.Object(optional(classFields).properties, { $id: 'ClassUpdate' });

const newJourneyStep = { slug: newSlug, ...optional(stepFields).properties };
export const newJourney = Type.Object(
  {
    slug: newSlug,
    ...optional(journeyFields).properties,
    name: journeyFields.name,
    steps: Type.Optional(Type.Array(Type.Object(newJourneyStep), { maxItems, description: 'Steps in their order.' })),
    questions: Type.Optional(
      Type.Array(
        Type.Union([questionText, Type.Object({ text: questionText, is_archived: Type.Optional(isArchivedQuestion) })]),
        { maxItems, description: 'Questions in their order: texts, or objects.' },
      ),
    ),
  },
  { $id: 'JourneyCreate' },
);
export const journeyUpdate = Type.Object(optional(journeyFields).properties, { $id: 'JourneyUpdate' });

export const newStep = Type.Object(
  { ...newJourneyStep, title: stepFields.title, position: Type.Optional(position) },
  { $id: 'StepCreate' },
);
export const stepUpdate = Type.Object(optional({ ...stepFields, position }).properties, { $id: 'StepUpdate' });

export const newQuestion = Type.Object(
  { text: questionText, position: Type.Optional(position), is_archived: Type.Optional(isArchivedQuestion) },
  { $id: 'QuestionCreate' },
);
export const questionUpdate = Type.Object(
  optional({ text: questionText, position, is_archived: isArchivedQuestion }).properties,
  { $id: 'QuestionUpdate' },
);

export const JourneyQuestion = Type.Object(
  {
    id: rowId,
    text: Type.String(),
    position: Type.Integer({ minimum: 0, description: 'From 0, over all questions of the journey.' }),
    is_archived: Type.Boolean({ description: 'Not displayed in conversations; remains in recorded changes.' }),
  },
  { $id: 'JourneyQuestion', description: 'A question of a journey.' },
);
export type JourneyQuestion = Static<typeof JourneyQuestion>;

export const Step = extend(
  JourneyStepItem,
  {
    id: rowId,
    position: Type.Integer({ minimum: 0, description: 'The same as `order`.' }),
    pipeline_job: nullable(Type.String({ description: 'Job that starts when a conversation enters the step.' })),
  },
  { $id: 'Step', description: 'A step of a journey.' },
);

export const questionListQuery = Type.Object({
  limit: limitParameter({ usual: 200, most: maxItems }),
  cursor: Type.Optional(Type.String({ maxLength: 20, description: '`next` of the previous page.' })),
});

const changes = Type.Record(Type.String(), FieldChange, {
  description: 'Changed fields of the request with old and new values.',
});

const classRef = {
  object_kind: Type.String({ description: 'For example `holon`.' }),
  slug: Type.String({ description: 'Slug of the class.' }),
};
const journeyRef = { journey_slug: Type.String({ description: 'Slug of the journey.' }) };
const stepRef = { ...journeyRef, step_slug: Type.String({ description: 'Slug of the step.' }) };

const denied = v1Errors.denied('The caller is not a superuser or in the group `workspace_editors`.');
const invalid = v1Errors.validation('A value is invalid, or a slug in the body is unknown.');
const absent = v1Errors.notFound('The object does not exist.');
const taken = { slug_taken: { code: 'conflict', when: 'Another object has the slug.' } } as const;
const inUse = {
  in_use: { code: 'conflict', when: 'Other objects depend on it; `counts` has their numbers.' },
} as const;
const creation = { ...denied, ...invalid };
const update = { ...denied, ...invalid, ...absent, ...v1Errors.precondition };
const removal = { ...denied, ...absent, ...v1Errors.precondition, ...inUse };
const nothing = Type.Object({});

export const setupRpcs = {
  createClass: rpc({
    subject: 'directory.classes.create',
    callers: byUsers,
    idempotent: true,
    audit: 'class.create',
    summary: 'Creates a class (W5).',
    request: newClass,
    reply: Type.Object({ class: ObjectClassPublic }),
    errors: { ...creation, ...taken },
  }),
  updateClass: rpc({
    subject: 'directory.classes.update',
    callers: byUsers,
    idempotent: true,
    audit: 'class.update',
    summary: 'Changes fields of a class, retired or not (W5).',
    request: Type.Object({ ...classRef, ...classUpdate.properties, ...ifMatch }),
    reply: Type.Object({ class: ObjectClassPublic, changes }),
    errors: update,
  }),
  deleteClass: rpc({
    subject: 'directory.classes.delete',
    callers: byUsers,
    audit: 'class.delete',
    summary: 'Deletes a class on which nothing depends (W5, W14).',
    request: Type.Object({ ...classRef, ...ifMatch }),
    reply: nothing,
    errors: removal,
  }),
  createJourney: rpc({
    subject: 'directory.journeys.create',
    callers: byUsers,
    idempotent: true,
    audit: 'journey.create',
    summary: 'Creates a journey with its steps and questions (W5, W16).',
    request: newJourney,
    reply: Type.Object({ journey: Journey }),
    errors: { ...creation, ...taken },
  }),
  updateJourney: rpc({
    subject: 'directory.journeys.update',
    callers: byUsers,
    idempotent: true,
    audit: 'journey.update',
    summary: 'Changes fields of a journey (W5).',
    request: Type.Object({ ...journeyRef, ...journeyUpdate.properties, ...ifMatch }),
    reply: Type.Object({ journey: Journey, changes }),
    errors: update,
  }),
  deleteJourney: rpc({
    subject: 'directory.journeys.delete',
    callers: byUsers,
    audit: 'journey.delete',
    summary: 'Deletes a journey on which nothing depends (W5, W14).',
    request: Type.Object({ ...journeyRef, ...ifMatch }),
    reply: nothing,
    errors: removal,
  }),
  createStep: rpc({
    subject: 'directory.steps.create',
    callers: byUsers,
    idempotent: true,
    audit: 'step.create',
    summary: 'Adds a step to a journey (W5, W16).',
    request: Type.Object({ ...journeyRef, ...newStep.properties }),
    reply: Type.Object({ step: Step }),
    errors: { ...creation, ...absent, ...taken },
  }),
  updateStep: rpc({
    subject: 'directory.steps.update',
    callers: byUsers,
    idempotent: true,
    audit: 'step.update',
    summary: 'Changes fields of a step (W5, W16).',
    request: Type.Object({ ...stepRef, ...stepUpdate.properties, ...ifMatch }),
    reply: Type.Object({ step: Step, changes }),
    errors: update,
  }),
  deleteStep: rpc({
    subject: 'directory.steps.delete',
    callers: byUsers,
    audit: 'step.delete',
    summary: 'Deletes a step that no object is at (W5).',
    request: Type.Object({ ...stepRef, ...ifMatch }),
    reply: nothing,
    errors: removal,
  }),
  listQuestions: rpc({
    subject: 'directory.questions.list',
    callers: byUsers,
    summary: 'Lists the questions of a journey in their order, archived ones included (W5, W17).',
    request: Type.Object({ ...journeyRef, ...questionListQuery.properties }),
    reply: Type.Object({
      items: Type.Array(JourneyQuestion, { description: 'By position.' }),
      next: nullable(Type.String({ description: '`cursor` of the next page; null after the last one.' })),
    }),
    errors: { ...denied, ...absent, ...v1Errors.validation('The cursor is invalid.') },
  }),
  createQuestion: rpc({
    subject: 'directory.questions.create',
    callers: byUsers,
    idempotent: true,
    audit: 'question.create',
    summary: 'Adds a question to a journey (W5, W16).',
    request: Type.Object({ ...journeyRef, ...newQuestion.properties }),
    reply: Type.Object({ question: JourneyQuestion }),
    errors: { ...creation, ...absent },
  }),
  updateQuestion: rpc({
    subject: 'directory.questions.update',
    callers: byUsers,
    idempotent: true,
    audit: 'question.update',
    summary: 'Changes text, position or archiving of a question (W5, W16).',
    request: Type.Object({
      ...journeyRef,
      question_id: Type.Integer({ description: 'Id of the question.' }),
      ...questionUpdate.properties,
      ...ifMatch,
    }),
    reply: Type.Object({ question: JourneyQuestion, changes }),
    errors: update,
  }),
} as const;
