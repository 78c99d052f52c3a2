from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sessions_app', '0019_checked_rows'),
    ]

    operations = [
        migrations.AddField(
            model_name='turn',
            name='answering',
            field=models.CharField(blank=True, default='', max_length=265),
        ),
        migrations.AddField(
            model_name='turn',
            name='answering_from_n',
            field=models.PositiveIntegerField(default=0),
        ),
    ]
