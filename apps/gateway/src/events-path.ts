/** The address of a stream: the path may itself have slashes. */
export const EVENTS = '/events/*';
