export { addEnteredStep, addOpenedRoom } from './statements.ts';
