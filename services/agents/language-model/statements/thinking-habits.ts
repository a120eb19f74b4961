/** What is known of the thoughts of language models, for all replicas together (D84). */
import { sql, statement, t } from '#libs/sql';

export const findPlainReplies = statement.maybeOne({
  name: 'thinking-habits.find',
  params: { model: t.text },
  row: { plainAnswers: t.integer },
  sql: ({ model }) => sql`select plain_answers as "plainAnswers" from agents.thinking_habits where model = ${model}`,
});

/** Counts an answer, from `initial` for a new model, up to `most`. One that changes nothing takes no lock. */
export const countPlainReply = statement.none({
  name: 'thinking-habits.count',
  params: { model: t.text, isUnopened: t.boolean, initial: t.integer, most: t.integer },
  sql: ({ model, isUnopened, initial, most }) => sql`insert into agents.thinking_habits as h (model, plain_answers)
    select ${model}, case when ${isUnopened} then 0 else least(${most}, ${initial} + 1) end
    where ${isUnopened} or coalesce((select plain_answers from agents.thinking_habits where model = ${model}), ${initial}) < ${most}
    on conflict (model) do update set plain_answers = case when ${isUnopened} then 0 else least(${most}, h.plain_answers + 1) end`,
});
