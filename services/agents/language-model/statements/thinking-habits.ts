/** What is known of the thoughts of language models, for all replicas together (D84). */
import { sql, statement, t } from '#libs/sql';

export const findPlainAnswers = statement.maybeOne({
  name: 'thinking-habits.find',
  params: { model: t.text },
  row: { plainAnswers: t.integer },
  sql: ({ model }) => sql`select plain_answers as "plainAnswers" from agents.thinking_habits where model = ${model}`,
});

/** Counts an answer, up to `most`. One that changes nothing takes no lock. */
export const countAnswer = statement.none({
  name: 'thinking-habits.count',
  params: { model: t.text, isUnopened: t.boolean, most: t.integer },
  sql: ({ model, isUnopened, most }) => sql`insert into agents.thinking_habits as h (model, plain_answers)
    select ${model}, case when ${isUnopened} then 0 else 1 end
    where ${isUnopened} or not exists (select from agents.thinking_habits where model = ${model} and plain_answers >= ${most})
    on conflict (model) do update set plain_answers = case when ${isUnopened} then 0 else least(${most}, h.plain_answers + 1) end`,
});
