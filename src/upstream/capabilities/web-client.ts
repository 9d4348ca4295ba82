/*
 * A file of its own, because it is loaded with the first request, and a package in the older module format keeps its names
 * in the bundle only where they are imported by name.
 */
export { Agent, fetch } from 'undici';
