"""How alembic runs: on the connection that it is given, in the transaction that is open there."""

from alembic import context

from tallymark.app.store.models import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
    transaction_per_migration=False,
)
context.run_migrations()
