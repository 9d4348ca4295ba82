import { render } from 'preact';
import { App } from './app.js';
import { applyTheme } from './lib/theme.js';

applyTheme();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
