/** The language model with its accounts and daily budget. */
export type { MeasuredModel, ModelCall } from './measured-model.ts';
export { BudgetSpent } from './token-budget.ts';
