/** Common schemas of memberships, relationships and worklists (rules/memberships#updates; D46, D47a). */
import { singleLine, nullable, Type } from '#libs/infrastructure/contract';
import { maxNoteLength, PersonPublic } from '../api-objects/contract.ts';

/** Common fields of memberships, relationships and worklist items. */
export const workflowFields = {
  journey_name: nullable(Type.String()),
  step_title: nullable(Type.String()),
  follow_up_after: nullable(Type.String({ format: 'date', description: '`YYYY-MM-DD`.' })),
  responsible_person: nullable(PersonPublic),
};

/** Common fields of updates of memberships and relationships. */
export const workflowUpdateFields = {
  note: Type.String({ maxLength: maxNoteLength, description: 'Required. Leading and trailing whitespace is removed.' }),
  follow_up_after: Type.Optional(nullable(Type.String({ description: '`YYYY-MM-DD`; null clears the date.' }))),
  step_slug: Type.Optional(singleLine({ description: 'Active step to move to.' })),
  advance_step: Type.Optional(
    Type.Boolean({ description: 'Moves to the next active step. Cannot be combined with `step_slug`.' }),
  ),
};

/** Common optional fields of new memberships and relationships. */
export const newWorkflowFields = {
  step_slug: Type.Optional(
    nullable(singleLine({ description: 'An active step of the journey. Default: the first one.' })),
  ),
  follow_up_after: Type.Optional(nullable(Type.String({ description: '`YYYY-MM-DD`.' }))),
  responsible_person_id: Type.Optional(nullable(Type.Integer({ description: 'A person with a user account.' }))),
  note: Type.Optional(
    nullable(
      Type.String({
        maxLength: maxNoteLength,
        description: 'Must not be blank. Leading and trailing whitespace is removed.',
      }),
    ),
  ),
};

export const textChange = Type.Optional(
  Type.Object(
    { old: nullable(Type.String()), new: nullable(Type.String()) },
    { $id: 'TextChange', description: 'Old and new value: slug of a journey or step, or date; null if absent.' },
  ),
);
/** Common fields of `changes`. */
export const workflowChanges = {
  /** Present if the step changed, even if the new step has the same slug. */
  current_step: textChange,
  follow_up_after: textChange,
};
