/** The language model with its accounts and daily budget. */
export type { MeasuredModel, ModelRequest } from './measured-model.ts';
export { BudgetExceeded } from './token-budget.ts';
