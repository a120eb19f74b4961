/** Starting the pipeline job of a step. */
export { enterStep, transcriptImportJob, windowCompleted } from './entry.ts';
