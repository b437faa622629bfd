/** Parts of the editor that come after its page. They are one file, which is smaller than a file for each. */
export { Cooldown } from './cooldown.tsx';
export { Starts } from './starts.tsx';
export { Then } from './then.tsx';
export { TotalLine } from './total-line.tsx';
